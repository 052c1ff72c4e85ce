# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's programs and how to tell that they did what they were asked."""
import dataclasses
import ipaddress
import itertools
import re
from typing import Callable

from bed import Failed

DEVICE, VERBCASES = 'uroce0', 'verbcases'
GROUPS = {4: '239.9.9.9', 6: 'ff0e::909'}  # by IP version


@dataclasses.dataclass
class Exchange:
    """A server, a client (which gets the server's host as its last argument), and a judge of what
    client and server said. `core`: part of every run."""
    server: list
    client: list
    tcp_port: int
    judge: Callable
    core: bool = False

    @property
    def title(self):
        return ' '.join(map(str, self.client))


def carry_out(one, exchange):
    """Once more, and no more, if nothing may be wrong with it."""
    try:
        one.exchange(exchange)
    except Failed as failure:
        reason = one.excuse(failure, 'a', b'')
        if not reason:
            raise
        print(f'again: {one.title}: {exchange.title}: {reason}\n{failure}', flush=True)
        one.exchange(exchange)


def tell(wrong):
    """Says once more what went wrong. The exit status of the test."""
    for title in wrong:
        print(f'failed: {title}')
    return 1 if wrong else 0


def try_beds(beds, info, go):
    """go(bed): reports of what went wrong on it. What went over its wire is judged afterwards. The
    exit status of the test."""
    wrong = []
    for make in beds:
        with make() as one:
            wrong += go(one)
            print(f'{one.title}: {one.judge(info)}', flush=True)
    return tell(wrong)


# TCP ports are never used twice, so no connection of an earlier exchange is in the way.
class TcpPorts:
    def __init__(self):
        self.last = 20000

    def __call__(self):
        self.last += 1
        return self.last


def wanted(text, pattern, what):
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise Failed(f'no {what} in:\n{text}')
    return match


def judge_pingpong(size, rounds, client, server):
    for text in (client, server):
        match = wanted(text, r'^(\d+) bytes in [\d.]+ seconds', 'result')
        if int(match[1]) != size * rounds * 2:
            raise Failed(f'{match[1]} bytes are not {size} * {rounds} * 2:\n{text}')
        if 'invalid data' in text:
            raise Failed(f'wrong bytes have arrived:\n{text}')


def pingpong(ports, kind, gid, options='', size=4096, rounds=200, core=False):
    """kind: rc, uc, ud or srq."""
    port = ports()
    command = [f'ibv_{kind}_pingpong', '-d', DEVICE, '-g', gid, '-p', port, '-s', size,
               '-n', rounds, *options.split()]
    return Exchange(command, command, port,
                    lambda client, server: judge_pingpong(size, rounds, client, server), core)


def xsrq_pingpong(ports, gid, options='', size=4096, rounds=5, core=False):
    port = ports()
    command = ['ibv_xsrq_pingpong', '-d', DEVICE, '-g', gid, '-p', port, '-s', size,
               '-n', rounds, *options.split()]

    def judge(client, server):
        for text in (client, server):
            wanted(text, '^success$', 'success')
    return Exchange(command, command, port, judge, core)


def verbcase(ports, name, gid, path_mtu):
    """Our own program, each of whose ends knows what it must see."""
    port = ports()
    server = [VERBCASES, '-d', DEVICE, '-g', gid, '-p', port]

    def judge(client, server):
        for text in (client, server):
            wanted(text, f'^as expected: {name}$', 'success')
    return Exchange(server, [*server, '-m', path_mtu, '-c', name], port, judge)


def table(client):
    """Of a perftest program's table: the line of column names, and (size, figures) of each row."""
    head = re.search(r'^ *#bytes.*$', client, re.MULTILINE)
    if not head:
        return '', []
    return head[0], re.findall(r'^\s*(\d+)\s+\d+((?:[ \t]+\d+\.\d+)+)', client[head.end():],
                               re.MULTILINE)


def judge_rows(sizes, client):
    """The client's table has one row for each size, with something measured in it."""
    head, rows = table(client)
    found = [int(size) for size, _ in rows]
    # Two decimals of MB/s are nothing for small messages: the rate behind them is not.
    measured = all(any(float(word) > 0 for word in words.split()) for _, words in rows)
    if not head or found != sizes or not measured:
        raise Failed(f'rows for {found}, not for {sizes}, or nothing measured, in:\n{client}')


def perftest(ports, name, gid, options='', size=64, rounds=100, core=False):
    port = ports()
    words = options.split()
    command = [name, '-d', DEVICE, '-x', gid, '-F', '-p', port, *words]
    if '-D' not in words:
        command += ['-n', rounds]
    if '-a' in words:
        last = 23 if 'UD' not in words else 12
        sizes = [1 << power for power in range(1, last + 1)]
    elif 'atomic' in name:
        sizes = [8]
    else:
        command += ['-s', size]
        sizes = [size]
    return Exchange(command, command, port, lambda client, _: judge_rows(sizes, client), core)


def pingpongs(ports, gids):
    """Every kind plain and with each of its options, both IP versions, sizes from 1 B to 1 MiB."""
    made = []
    for kind in ('rc', 'uc', 'ud', 'srq'):
        largest = 2048 if kind == 'ud' else 1 << 20
        mtu = '' if kind == 'ud' else '-m 4096'
        more = ('-N', '-t', '-N -e -c') if kind == 'rc' else ()
        for options in ('', '-e', '-c', '-e -c') + more:
            made.append(pingpong(ports, kind, gids[4], f'{options} {mtu}', size=min(4096, largest),
                                 core=options in ('', '-e -c', '-N')))
            made.append(pingpong(ports, kind, gids[6], options, size=1000))
        for size in (1, 2, 63, 255, 1023, 1024, 1025, 65536, 1 << 20):
            if size <= largest:
                made.append(pingpong(ports, kind, gids[4], f'-c {mtu}', size=size,
                                     rounds=20 if size > 65536 else 100))
        for path_mtu in (256, 512, 1024, 2048) if kind != 'ud' else ():
            made.append(pingpong(ports, kind, gids[6], f'-c -m {path_mtu}', size=10000, rounds=50))
    made += [xsrq_pingpong(ports, gids[4], options, size, core=options == '')
             for options in ('', '-e') for size in (64, 4096, 65536)]
    return made


def perftests(ports, gids):
    """The eight programs with the connection types that each has, and the options that matter."""
    types = {'ib_send': ('RC', 'UC', 'UD'), 'ib_write': ('RC', 'UC'), 'ib_read': ('RC',)}
    made = []
    for family, connections in types.items():
        for connection in connections:
            for kind in ('lat', 'bw'):
                made += of_connection(ports, f'{family}_{kind}', f'-c {connection}', gids)
            if connection == 'RC':
                made += wide_windows(ports, f'{family}_bw', gids[4])
    made += [perftest(ports, f'ib_send_{kind}', gids[4], f'-c RC --use-srq{more}', 512)
             for kind, more in (('lat', ''), ('bw', ''), ('bw', ' -q 4'))]
    made += [perftest(ports, f'ib_atomic_{kind}', gid, f'-A {operation}', core=gid == gids[4])
             for kind in ('lat', 'bw') for operation in ('FETCH_AND_ADD', 'CMP_AND_SWAP')
             for gid in gids.values()]
    return made + multicast(ports, gids, {4: GROUPS[4], 6: ''})


def multicast(ports, gids, groups):
    """One queue pair in a group, which is all that perftest has. `groups`: MGIDs by IP version,
    which must be the GID's; '': the one that perftest chooses, of IPv6 and interface-local."""
    made = []
    for kind, version in itertools.product(('lat', 'bw'), groups):
        mgid = f' -M {dotted(groups[version])}' if groups[version] else ''
        made.append(perftest(ports, f'ib_send_{kind}', gids[version], f'-c UD -g{mgid}',
                             core=version == 4))
    return made


def dotted(group):
    """An address as perftest takes an MGID."""
    address = ipaddress.ip_address(group)
    raw = address.packed if address.version == 6 else bytes(10) + b'\xff\xff' + address.packed
    return ':'.join(map(str, raw))


def of_connection(ports, name, connection, gids):
    made = [perftest(ports, name, gids[4], connection, core=True),
            perftest(ports, name, gids[6], f'{connection} -m 1024', 1000),
            perftest(ports, name, gids[4], f'{connection} --use_old_post_send', 1024)]
    if 'write' not in name:  # whose programs have no events
        made.append(perftest(ports, name, gids[4], f'{connection} -e', 256))
    if 'read' not in name:
        made.append(perftest(ports, name, gids[4], f'{connection} -I 64', 64))
    if name.endswith('bw'):
        made.append(perftest(ports, name, gids[4], f'{connection} -b', 1024))
    return made


def wide_windows(ports, name, gid):
    """More at a time than the ring of a port holds: RC only, since who waits for an unreliable
    message that was lost waits for ever."""
    return [perftest(ports, name, gid, '-c RC -a', rounds=10),
            perftest(ports, name.replace('bw', 'lat'), gid, '-c RC -a', rounds=10),
            perftest(ports, name, gid, '-c RC -q 4', 1024),
            perftest(ports, name, gid, '-c RC -t 512', 2048, 1000),
            perftest(ports, name, gid, '-c RC -l 8 -t 64', 512, 200),
            perftest(ports, name, gid, '-c RC -D 1', 2048)]
