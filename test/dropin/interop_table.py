# SPDX-License-Identifier: BSD-3-Clause
"""The page that says what works between uroce and soft-RoCE."""
import re

import programs

FAILED, NOT_TRIED = '**failed**', 'not tried'

HEAD = """# uroce and Linux's soft-RoCE

Unmodified programs of Debian 12 on our [drop-in library](dropin.md), and one of ours, against the
same programs on `rdma_rxe` of Linux {kernel} in an emulated machine.
Made by `./run interop`, which needs root; {right} of {tried} exchanges went right.

The figures are what the client printed, of a few rounds. The guest's processor is emulated, on
one that both sides share: they show that something was measured, not how fast anything is.
"Lossy": the guest loses 2 % of the frames in each direction and delivers one in four 3 ms before
the others. Unreliable transports are not tried there, since these programs wait for ever for a
message that was lost; nor is `ibv_srq_pingpong`, which leaves when it has its number of messages,
while the other end may still wait for an ACK. `ibv_xsrq_pingpong` is not tried at all: soft-RoCE
has no XRC. `verbcases` is ours (`test/peer/rxe/verbcases`): each of its ends knows what it must
see, errors included; lossy only where nothing is refused, since a refusal is not said twice.

| what, IP version, path MTU | uroce is server | uroce is client |
|---|---|---|
"""


def measured(text):
    """The client's result in a few words."""
    match = re.search(r'([\d.]+) usec/iter', text)
    if match:
        return f'{float(match[1]):.0f} usec/iter'
    head, rows = programs.table(text)
    if not rows:
        return 'as expected'
    figures = rows[-1][1].split()
    if 'BW average' in head:
        average, rate = float(figures[1]), float(figures[2]) * 1e6
        return f'{average:.2f} MB/s' if average >= 0.01 else f'{rate:.0f} messages/s'
    return f'{float(figures[2]):.0f} usec'  # the typical one


def page(rows, results, kernel, old=''):
    """`old`: the page as it was, which is kept where a row was not tried this time."""
    before = {title: cells for title, *cells in re.findall(
        r'^\| (.+) \| (.+) \| (.+) \|$', old, re.MULTILINE)}
    lines, tried, right = [], 0, 0
    for row in rows:
        kept = before.get(row.title, [NOT_TRIED] * 2)
        cells = [results.get((row, end), (True, cell))[1] for end, cell in zip('ab', kept)]
        tried += sum(cell != NOT_TRIED for cell in cells)
        right += sum(cell not in (NOT_TRIED, FAILED) for cell in cells)
        lines.append(f'| {row.title} | {" | ".join(cells)} |\n')
    return HEAD.format(kernel=kernel, right=right, tried=tried) + ''.join(lines)
