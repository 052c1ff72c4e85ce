#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs on our library against the same programs on Linux's soft-RoCE (rxe).

Runs the whole matrix, or a part of it, each exchange with uroce as server and as client; prints a
line for each. What failed is kept: what both programs said, and the frames.
"""
import argparse
import os
import pathlib
import random
import re
import sys
import time

import bed
import guest_bed
import interop_matrix
import interop_table

sys.path.insert(0, str(pathlib.Path(guest_bed.guest.__file__).parent))
import image  # noqa: E402

SKIPPED = 77
FAILURES_MAX = 12
ROLES = {'a': 'server', 'b': 'client'}  # uroce's, by the server's end
# A pingpong's local ACK timeout is 67 ms, seven times over: where others use the processors, the
# guest can stand still for longer. Each end may then give up with nothing wrong on the wire. And
# perftest may find the guest's clock too uneven to measure anything.
REPEATS = 2
STALLED = re.compile(r'retry counter exceeded|Failed status 12|Correlation coefficient')


class Runner:
    def __init__(self, one, keep):
        self.one, self.keep = one, pathlib.Path(keep)

    def run(self, exchange, server_end):
        """What was measured. bed.Failed: what was left behind is told in its words."""
        role = ROLES[server_end]
        for left in reversed(range(REPEATS + 1)):
            size = self.one.sniffer.size()
            try:
                said = self.one.exchange(exchange.server, exchange.client, exchange.tcp_port,
                                         self.one.seconds, server_end)
                exchange.judge(said['client'], said['server'])
                return interop_table.measured(said['client'])
            except bed.Failed as failure:
                reason = STALLED.search(str(failure))
                alone = isinstance(failure, bed.LastAcknowledgement) and self.one.loses_frames
                if not left or not (reason or alone):
                    raise bed.Failed(f'{failure}\n{self.keep_words(exchange, role, size, failure)}')
                self.keep_words(exchange, role, size, failure, f'again-{left}')
                print(f'again: {exchange.title}: '
                      f'{reason[0] if reason else "the last ACK may be lost"}', flush=True)

    def keep_words(self, exchange, role, size, failure, more=''):
        self.keep.mkdir(parents=True, exist_ok=True)
        path = self.keep / f'{exchange.tcp_port}-{exchange.client[0]}-{role}{more}'
        path.with_suffix('.txt').write_text(f'{exchange.title}\n{failure}\n')
        path.with_suffix('.pcap').write_bytes(self.one.sniffer.since(size))
        return f'kept: {path}.txt and .pcap'


def go(runner, rows, seconds, results, save):
    """Fills `results`, of {(row, end): (went right, words)}, and has each saved."""
    end, failures = time.monotonic() + seconds, 0
    for row in rows:
        for server_end in 'ab':
            if seconds and time.monotonic() > end or failures > FAILURES_MAX:
                return
            start, role = time.monotonic(), ROLES[server_end]
            try:
                results[row, server_end] = True, runner.run(row.exchange, server_end)
            except bed.Failed as failure:
                results[row, server_end] = False, interop_table.FAILED
                failures += 1
                print(failure, flush=True)
            right, words = results[row, server_end]
            print(f'{"ok" if right else "failed"}: {row.title}: uroce is {role}: {words} '
                  f'({time.monotonic() - start:.1f} s)', flush=True)
            save(results)


def verbcases_names(path):
    return bed.run([path, '-l']).split()


def run(options):
    every = interop_matrix.rows(verbcases_names(options.verbcases))
    rows = [row for row in every if all(word in row.title for word in options.only)]
    if options.seconds:
        random.Random(options.seed).shuffle(rows)
    results = {}
    with guest_bed.GuestBed(options.uroce_run, options.images, options.verbcases) as one:
        runner = Runner(one, options.keep)
        kernel = one.guest.run('uname -r')[1].strip()
        old = options.table.read_text() if options.table and options.table.exists() else ''

        def save(results):
            if options.table:
                options.table.write_text(interop_table.page(every, results, kernel, old))

        share = options.seconds / 2
        go(runner, [row for row in rows if not row.lossy], share, results, save)
        if any(row.lossy for row in rows):
            one.lose_frames()
            go(runner, [row for row in rows if row.lossy], share, results, save)
        print(f'{len(results)} exchanges; {one.judge(options.info)}', flush=True)
    wrong = [row.title for (row, _), (right, _) in results.items() if not right]
    for title in wrong:
        print(f'failed: {title}')
    return 1 if wrong else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('uroce_run', help='of the build to try')
    parser.add_argument('info', help='uroce-info')
    parser.add_argument('verbcases', help='our own program')
    parser.add_argument('images', help='the folder where the guest is kept')
    parser.add_argument('--only', nargs='+', default=[], metavar='WORD',
                        help='rows whose title has all of them')
    parser.add_argument('--seconds', type=float, default=0, metavar='N',
                        help='a drawn part of the matrix, in about that time')
    parser.add_argument('--seed', type=int, default=int(os.environ.get('UROCE_SEED', '1')))
    parser.add_argument('--keep', default='interop-failures', metavar='FOLDER',
                        help='where failed exchanges are kept')
    parser.add_argument('--table', type=pathlib.Path, metavar='FILE',
                        help='the page whose rows are written')
    return parser.parse_args()


def main():
    options = arguments()
    if os.geteuid() != 0:
        print('skipped: needs root for a network namespace and a tap')
        return SKIPPED
    if options.seconds:
        print(f'seed {options.seed}')
    try:
        return run(options)
    except image.Unavailable as reason:
        print(f'skipped: {reason}')
        return SKIPPED


if __name__ == '__main__':
    sys.exit(main())
