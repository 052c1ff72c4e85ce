# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges between two programs, one after the other: each becomes a cell of the table."""
import pathlib
import time

import bed
import interop_table

FAILURES_MAX = 12
REPEATS = 2


class Runner:
    """Fills `results`, of {(row, column): (went right, words)}, and has each saved by `save`.
    `keep`: a folder for what was said and sent when something failed."""

    def __init__(self, keep, results, save):
        self.keep, self.results, self.save = pathlib.Path(keep), results, save

    def go(self, one, rows, columns, seconds=0):
        """`columns`: [(key, its title, the server's end)]. `seconds`: for as long, 0: all."""
        end, failures = time.monotonic() + seconds, 0
        for row in rows:
            for column, title, server_end in columns:
                if seconds and time.monotonic() > end or failures > FAILURES_MAX:
                    return
                failures += not self.fill((row, column), title,
                                          lambda: self.measure(one, row.exchange, server_end))

    def fill(self, cell, title, measure):
        """Whether it went right."""
        start, (row, _) = time.monotonic(), cell
        try:
            right, words = True, measure()
        except bed.Failed as failure:
            right, words = False, interop_table.FAILED
            print(failure, flush=True)
        self.results[cell] = right, words
        print(f'{"ok" if right else "failed"}: {row.title}: {title}: {words} '
              f'({time.monotonic() - start:.1f} s)', flush=True)
        self.save()
        return right

    def measure(self, one, exchange, server_end):
        """What was measured. bed.Failed: what was left behind is told in its words."""
        for left in reversed(range(REPEATS + 1)):
            mark = one.mark()
            try:
                return interop_table.measured(one.exchange(exchange, server_end))
            except bed.Failed as failure:
                frames = one.since(mark)
                again = left and one.excuse(failure, server_end, frames)
                kept = self.keep_words(exchange, server_end, failure, frames,
                                       f'-again-{left}' if again else '')
                if not again:
                    raise bed.Failed(f'{failure}\n{kept}') from None
                print(f'again: {exchange.title}: {again}', flush=True)

    def keep_words(self, exchange, server_end, failure, frames, more):
        self.keep.mkdir(parents=True, exist_ok=True)
        path = self.keep / f'{exchange.tcp_port}-{exchange.client[0]}-{server_end}{more}'
        path.with_suffix('.txt').write_text(f'{exchange.title}\n{failure}\n')
        path.with_suffix('.pcap').write_bytes(frames)
        return f'kept: {path}.txt and .pcap'
