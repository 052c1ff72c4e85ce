#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ucx_perftest, unmodified, on UCX's transports rc_verbs and ud_verbs, over veth and over memif.

  ucx_test.py UROCE-RUN UROCE-INFO MEMIF-TAP
"""
import dataclasses
import re
import sys
import time

import bed
import programs


@dataclasses.dataclass
class Measurement:
    """One row of ucx_perftest's table. kind: its name for the test; options: more words for it."""
    kind: str
    size: int
    rounds: int
    options: str = ''

    @property
    def name(self):
        return '_'.join([self.kind, str(self.size), *self.options.split()[1::2]])

    @property
    def line(self):
        """Of a batch file."""
        return f'{self.name} -t {self.kind} -s {self.size} -n {self.rounds} -w 10 {self.options}\n'


# UCP chooses by size between what transports offer: inline, copied, by RDMA READ.
MESSAGES = [
    Measurement('tag_lat', 8, 200),
    Measurement('tag_bw', 4096, 200),
    Measurement('tag_bw', 1 << 20, 20),
    Measurement('tag_sync_lat', 65536, 50),
    Measurement('stream_bw', 8192, 200),
    Measurement('ucp_am_lat', 64, 200),
]
ONE_SIDED = [
    Measurement('ucp_put_bw', 65536, 100),
    Measurement('ucp_get', 65536, 100),
    Measurement('ucp_fadd', 8, 100),
    Measurement('ucp_cswap', 8, 100),
]


def bare(transport, kind, size, rounds, layout=''):
    """UCT: one transport and nothing else, the data in one layout."""
    return Measurement(kind, size, rounds, f'-x {transport} -d {programs.DEVICE}:1 {layout}')


def bare_messages(transport):
    return [bare(transport, 'am_lat', 8, 200, '-D short'),
            bare(transport, 'am_bw', 4000, 200, '-D bcopy'),
            bare(transport, 'am_bw', 3000, 200, '-D zcopy')]


def bare_one_sided(transport):
    return [bare(transport, 'put_lat', 8, 200, '-D short'),
            bare(transport, 'put_bw', 65536, 100, '-D zcopy'),
            bare(transport, 'get', 8000, 100, '-D bcopy'),
            bare(transport, 'get', 65536, 100, '-D zcopy'),
            bare(transport, 'add_lat', 8, 100),
            bare(transport, 'fadd', 8, 100),
            bare(transport, 'cswap', 8, 100)]


# By what UCP may use. Connections of rc_verbs are made by messages of ud_verbs.
BATCHES = {
    'rc_verbs,ud_verbs': [*MESSAGES, *ONE_SIDED, *bare_messages('rc_verbs'),
                          *bare_one_sided('rc_verbs')],
    'ud_verbs': [*MESSAGES, *bare_messages('ud_verbs')],
}


def judge_rows(batch, client):
    """Every measurement has its row, with as many rounds as asked for and a time above zero."""
    if re.search(r'UCX +(ERROR|WARN)', client):
        raise bed.Failed(f'UCX complains:\n{client}')
    for each in batch:
        row = programs.wanted(client, rf'^\s*{each.name}\s+(\d+)\s+\S+\s+\S+\s+(\d+\.\d+)',
                              each.name)
        if int(row[1]) != each.rounds or float(row[2]) <= 0:
            raise bed.Failed(f'{each.name}: too few rounds, or no time overall, in:\n{client}')


def exchange(ports, folder, transports, batch):
    """Both ends read the batch, a file in `folder`: a new context for each line, in the same two
    processes."""
    port, file = ports(), folder / f'batch-{transports}'
    file.write_text(''.join(each.line for each in batch))
    command = ['env', f'UCX_TLS={transports},self', f'UCX_NET_DEVICES={programs.DEVICE}:1',
               'ucx_perftest', '-p', port, '-f', '-b', file]
    return programs.Exchange(command, command, port, lambda client, _: judge_rows(batch, client))


def go(one):
    """Reports of what went wrong."""
    ports, wrong = programs.TcpPorts(), []
    for transports, batch in BATCHES.items():
        title = f'{one.title}: {transports}'
        start = time.monotonic()
        try:
            one.exchange(exchange(ports, one.folder, transports, batch))
            print(f'ok: {title}: {len(batch)} tests ({time.monotonic() - start:.1f} s)', flush=True)
        except bed.Failed as failure:
            print(f'failed: {title}\n{failure}', flush=True)
            wrong.append(f'{title}: {str(failure).splitlines()[0]}')
    return wrong


def main():
    uroce_run, info, memif_tap = sys.argv[1:]
    if reason := bed.cannot_run({'ucx_perftest': 'ucx-utils'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    return programs.try_beds([lambda: bed.Veth(uroce_run),
                              lambda: bed.TappedMemif(uroce_run, memif_tap)], info, go)


if __name__ == '__main__':
    sys.exit(main())
