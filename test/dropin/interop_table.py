# SPDX-License-Identifier: BSD-3-Clause
"""The page that says what works, between which peers, and what was measured."""
import dataclasses
import re

import bed
import programs

FAILED, NOT_TRIED = '**failed**', 'not tried'

HEAD = """# Whom unmodified programs talk to

Programs of Debian 12 on our [drop-in library](dropin.md), and one of ours, against themselves on
uroce and on Linux's soft-RoCE. Made by `./run interop`, which needs root; {right} of {tried}
exchanges went right. It captures what goes over the veth (the first {captured:,} frames) and to
and from soft-RoCE (all), and fails for a wrong ICRC (`uroce-info decode`) or a packet that tshark
finds malformed; what goes over a memif is captured in the test run.

The figures are what the client printed, of a few rounds: they show that something was measured,
not how fast anything is.
"""

OWN = """
## uroce and uroce

Two processes on one machine, over a veth pair with `net_af_packet`, and over `net_memif`. Each
line is a program's name and its options; `-s` is the size of its messages.

| what | over veth | over memif |
|---|---|---|
"""

RXE = """
## uroce and Linux's soft-RoCE

The peer is `rdma_rxe` of Linux {kernel} in an emulated machine. "Lossy": the guest loses 2 % of
the frames in each direction and delivers one in four 3 ms before the others. Unreliable transports
are not tried there, since these programs wait for ever for a message that was lost; nor is
`ibv_srq_pingpong`, which leaves when it has its number of messages, while the other end may still
wait for an ACK. `ibv_xsrq_pingpong` is not tried at all: soft-RoCE has no XRC. `verbcases` is ours
(`test/peer/rxe/verbcases`): each of its ends knows what it must see, errors included; lossy only
where nothing is refused, since a refusal is not said twice.

| what, IP version, path MTU | uroce is server | uroce is client |
|---|---|---|
"""


def kernel(page_text):
    """The kernel that an earlier page was about."""
    found = re.search(r'of Linux (\S+) in an', page_text)
    return found[1] if found else '(not tried)'


@dataclasses.dataclass
class Table:
    """`text`: all above its rows. `columns`: the keys of what differs from cell to cell."""
    text: str
    columns: tuple
    rows: list


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


def page(tables, results, old=''):
    """`results`: (went right, words) by (row, column). `old`: the page as it was, which is kept
    where a row was not tried this time."""
    before = {title: cells for title, *cells in re.findall(
        r'^\| (.+) \| (.+) \| (.+) \|$', old, re.MULTILINE)}
    lines, every = [], []
    for table in tables:
        lines.append(table.text)
        for row in table.rows:
            kept = before.get(row.title, [NOT_TRIED] * len(table.columns))
            cells = [results.get((row, column), (True, cell))[1]
                     for column, cell in zip(table.columns, kept)]
            every += cells
            lines.append(f'| {row.title} | {" | ".join(cells)} |\n')
    tried = [cell for cell in every if cell != NOT_TRIED]
    right = [cell for cell in tried if cell != FAILED]
    head = HEAD.format(right=len(right), tried=len(tried), captured=bed.CAPTURED_MAX)
    return head + ''.join(lines)
