# SPDX-License-Identifier: BSD-3-Clause
"""What is tried between uroce and itself, and between uroce and soft-RoCE."""
import dataclasses
import itertools

import programs
import ucx_test
from programs import perftest, pingpong

GIDS = {4: 1, 6: 2}
PATH_MTUS = (256, 1024, 4096)
# With the guest, which is emulated, iterations are few.
MESSAGE = 5001  # several packets at any path MTU but 4096, where it is two; pad count 3
FAMILIES = {'ib_send': ('RC', 'UC', 'UD'), 'ib_write': ('RC', 'UC'), 'ib_read': ('RC',)}
# The local ACK timeout: 0.5 s, for a guest that stands still while others use the processors.
PATIENT = '-u 17'
REPEATABLE = ('send', 'send-imm', 'send-srq', 'write', 'write-imm', 'read', 'read-many', 'atomics',
              'inline', 'gather', 'batch', 'mixed', 'rnr', 'rnr-srq', 'zero-bad-rkey')
# Reads at a time: unless told, these programs ask of an end what its peer is able to, which may be
# more than its own.
READS = '-o 8'


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table. `lossy`: over a link that loses and reorders."""
    title: str
    exchange: programs.Exchange = dataclasses.field(compare=False)
    lossy: bool = False


def own_rows(folder):
    """Rows between two of our own processes. `folder`: for files that the programs read."""
    ports = programs.TcpPorts()
    exchanges = programs.pingpongs(ports, GIDS) + programs.perftests(ports, GIDS)
    made = [Row(own_title(list(map(str, exchange.client))), exchange) for exchange in exchanges]
    return made + [Row(f'ucx_perftest, {len(batch)} tests over {transports}',
                       ucx_test.exchange(ports, folder, transports, batch))
                   for transports, batch in ucx_test.BATCHES.items()]


def own_title(words):
    """A command without what all have: device, TCP port, and the GID index as an IP version."""
    index_option = '-g' if words[0].endswith('pingpong') else '-x'
    kept, left, version = [words[0]], iter(words[1:]), None
    for word in left:
        if word in ('-d', '-p'):
            next(left)
        elif word == index_option:
            index = int(next(left))
            version = next(version for version, gid in GIDS.items() if gid == index)
        elif word != '-F':
            kept.append(word)
    return f'{" ".join(kept)}, IPv{version}'


def pingpong_rows(ports, kind, mtus, lossy=False):
    made = []
    for version, gid in GIDS.items():
        for mtu in mtus:
            # -c: the bytes are looked at
            exchange = pingpong(ports, kind, gid, f'-c -m {mtu}' if kind != 'ud' else '-c',
                                size=2000 if kind == 'ud' else MESSAGE, rounds=30)
            made.append(Row(f'ibv_{kind}_pingpong, IPv{version}, path MTU {mtu}'
                            f'{", lossy" if lossy else ""}', exchange, lossy))
    return made


def perftest_rows(ports, name, connection, mtus, lossy=False):
    made = []
    for version, gid in GIDS.items():
        for mtu in mtus:
            # UD messages are one packet each, and what a queue of packets drops does not come again
            size, rounds = (mtu, 20) if connection == 'UD' else (MESSAGE, 20)
            options = f'-c {connection} -m {mtu}'
            if connection == 'RC':
                options += f' {PATIENT}'
            if 'read' in name:
                options += f' {READS}'
            title = f'{name} {connection}, IPv{version}, path MTU {mtu}'
            made.append(Row(title + (', lossy' if lossy else ''),
                            perftest(ports, name, gid, options, size, rounds), lossy))
    return made


def atomic_rows(ports, mtus, lossy=False):
    made = []
    for kind, operation, version, mtu in itertools.product(
            ('lat', 'bw'), ('FETCH_AND_ADD', 'CMP_AND_SWAP'), GIDS, mtus):
        title = f'ib_atomic_{kind} {operation}, IPv{version}, path MTU {mtu}'
        exchange = perftest(ports, f'ib_atomic_{kind}', GIDS[version],
                            f'-A {operation} -m {mtu} {PATIENT} {READS}', rounds=20)
        made.append(Row(title + (', lossy' if lossy else ''), exchange, lossy))
    return made


def multicast_rows(ports):
    return [Row(f'{exchange.client[0]} UD, multicast, IPv{version}', exchange)
            for version, group in programs.GROUPS.items()
            for exchange in programs.multicast(ports, GIDS, {version: group})]


def verbcase_rows(ports, names, mtus, lossy=False):
    """`mtus`: {IP version: path MTU}. Over a lossy link only what succeeds: a refusal is not said
    twice, and soft-RoCE repeats for ever what it has seven retries for."""
    return [Row(f'verbcases {name}, IPv{version}, path MTU {mtu}{", lossy" if lossy else ""}',
                programs.verbcase(ports, name, GIDS[version], mtu), lossy)
            for name in names for version, mtu in mtus.items()
            if not lossy or name in REPEATABLE]


def rows(verbcases):
    """Every row, each of which goes in both directions. `verbcases`: the names of the cases. Who
    waits for an unreliable message that was lost waits for ever, so a lossy link is for RC only."""
    ports, made = programs.TcpPorts(), []
    for kind in ('rc', 'uc', 'srq'):
        made += pingpong_rows(ports, kind, PATH_MTUS)
    made += pingpong_rows(ports, 'ud', (4096,))
    for family, connections in FAMILIES.items():
        for connection in connections:
            for kind in ('lat', 'bw'):
                made += perftest_rows(ports, f'{family}_{kind}', connection, PATH_MTUS)
    made += atomic_rows(ports, PATH_MTUS)
    made += multicast_rows(ports)
    made += verbcase_rows(ports, verbcases, {4: 256, 6: 4096})
    made += pingpong_rows(ports, 'rc', PATH_MTUS, lossy=True)
    for family in FAMILIES:
        for kind in ('lat', 'bw'):
            made += perftest_rows(ports, f'{family}_{kind}', 'RC', PATH_MTUS, lossy=True)
    made += atomic_rows(ports, PATH_MTUS, lossy=True)
    return made + verbcase_rows(ports, verbcases, {4: 1024}, lossy=True)
