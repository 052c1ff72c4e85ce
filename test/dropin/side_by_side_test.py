#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Three pairs of unmodified programs run on one machine at a time and know nothing of each other:
two over memif, whose sockets lie in one folder, and one over veth.

  side_by_side_test.py UROCE-RUN UROCE-INFO
"""
import concurrent.futures
import sys
import time

import bed
import programs


class BesideMemif(bed.Memif):
    """Another pair in the namespace of one, and with its addresses: the sockets keep them apart."""
    title = 'memif beside it'

    def __init__(self, one):
        self.one = one
        super().__init__(one.uroce_run)

    def make(self):
        pass

    def namespace(self, end):
        return self.one.namespace(end)

    def socket(self, end):
        return f'{self.one.socket(end)}.2'


def ucx(ports, _gid):
    """UCX looks for its device below /sys/class/infiniband, where each program sees its own."""
    port, rounds = ports(), 200
    command = ['env', 'UCX_TLS=rc_verbs,ud_verbs,self', f'UCX_NET_DEVICES={programs.DEVICE}:1',
               'ucx_perftest', '-p', port, '-t', 'tag_lat', '-s', 64, '-n', rounds, '-w', 10, '-f']
    return programs.Exchange(command, command, port, lambda client, _: programs.wanted(
        client, rf'^\s+{rounds}\s+\d+\.\d', 'result'))


# What each pair does in a round: sleeps, spins on memory, asks for paths of devices.
ROUNDS = [
    lambda ports, gid: programs.pingpong(ports, 'rc', gid, '-e -c'),
    lambda ports, gid: programs.perftest(ports, 'ib_write_lat', gid),
    ucx,
]


def tried(one, exchange):
    """What went wrong, or ''."""
    try:
        programs.carry_out(one, exchange)
        return ''
    except bed.Failed as failure:
        return f'{one.title}: {failure}'


def go(beds):
    """Reports of what went wrong. Each round begins for all pairs at once."""
    ports, wrong = programs.TcpPorts(), []
    with concurrent.futures.ThreadPoolExecutor(len(beds)) as pool:
        for make in ROUNDS:
            start = time.monotonic()
            exchanges = [make(ports, one.gids[4]) for one in beds]
            failures = list(filter(None, pool.map(tried, beds, exchanges)))
            print(f'{"failed" if failures else "ok"}: {len(beds)} pairs of '
                  f'{exchanges[0].title} ({time.monotonic() - start:.1f} s)', flush=True)
            wrong += failures
    return wrong


def main():
    uroce_run, info = sys.argv[1:]
    if reason := bed.cannot_run({'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_bw': 'perftest',
                                 'ucx_perftest': 'ucx-utils'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    with bed.Veth(uroce_run) as veth, bed.Memif(uroce_run) as memif, BesideMemif(memif) as beside:
        wrong = go([veth, memif, beside])
        print(f'{veth.title}: {veth.judge(info)}', flush=True)
    return programs.tell(wrong)


if __name__ == '__main__':
    sys.exit(main())
