#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""uroce-feed as an exchange and its traders, a process and a network namespace each.

  feed_veth_test.py UROCE-FEED

Joined by bridges, one for each feed: ports shared with the kernel and of our own, IPv4 and IPv6,
both feeds on one port and on two, one trader and two, packets withheld from both feeds.
"""
import os
import re
import subprocess
import sys
import time

from scratch import Scratch

FEED = sys.argv[1]
CPUS = sorted(os.sched_getaffinity(0))
SECONDS = 60  # longest that a run may take
MESSAGES, TRIGGERS = 5000, 500
GROUPS6 = ['--group-a', 'ff3e::1:1', '--group-b', 'ff3e::1:2', '--control-group', 'ff3e::1:3']


def address(port, end, ipv6):
    return f'fd00:9:{port}::{end + 1}/64' if ipv6 else f'10.9.{port}.{end + 1}/24'


def ip(*words):
    subprocess.run(['ip', *' '.join(words).split()], check=True)


class Network:
    """A namespace for each end and one for the bridges. They take all that is in them along."""

    def __init__(self, ends, ports, shared, ipv6=False):
        self.ipv6 = ipv6
        self.names = [f'uroce-feed-{end}-{os.getpid()}' for end in range(ends)]
        self.middle = f'uroce-feed-m-{os.getpid()}'
        self.scratch = Scratch()
        try:
            for name in (*self.names, self.middle):
                self.scratch.namespace(name)
            for port in range(ports):
                self.join(port, shared)
        except BaseException:
            self.remove()
            raise

    def join(self, port, shared):
        ip(f'-n {self.middle} link add br{port} type bridge mcast_snooping 0')
        ip(f'-n {self.middle} link set br{port} up')
        for end, name in enumerate(self.names):
            ip(f'link add v{port} netns {name} type veth peer name p{port}x{end} netns',
               self.middle)
            ip(f'-n {self.middle} link set p{port}x{end} master br{port} up')
            if not shared:  # the kernel is to have no address there, not even a link-local one
                ip(f'netns exec {name} sysctl -qw net.ipv6.conf.v{port}.disable_ipv6=1')
            ip(f'-n {name} link set v{port} up')
            if shared:
                nodad = ' nodad' if self.ipv6 else ''
                ip(f'-n {name} addr add {address(port, end, self.ipv6)} dev v{port}{nodad}')

    def remove(self):
        self.scratch.remove()


def start(network, end, role, ports, shared, options):
    command = ['ip', 'netns', 'exec', network.names[end], FEED, role, '--wait', '10', *options,
               *(GROUPS6 if network.ipv6 else []), '--', '--no-huge', '--no-pci', '-m', '256',
               '--no-shconf', '--no-telemetry', '--lcores', f'0@{CPUS[end % len(CPUS)]}']
    own = ['--']
    for port in range(ports):
        command.append(f'--vdev=net_af_packet{port},iface=v{port},framesz=2048,blocksz=4096,'
                       'framecnt=1024')
        own += ['--port', f'net_af_packet{port}' + (
            '' if shared else f',own,address={address(port, end, network.ipv6)}')]
    return subprocess.Popen(command + own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)


def run(network, ports, shared):
    processes = [start(network, 0, 'exchange', ports, shared,
                       ['--messages', str(MESSAGES), '--rate', '20000', '--inject-loss', '5',
                        '--traders', str(len(network.names) - 1)])]
    try:
        for end in range(1, len(network.names)):
            processes.append(start(network, end, 'trader', ports, shared,
                                   ['--patience-us', '5000']))
        outputs = [process.communicate(timeout=SECONDS)[0] for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                print(process.communicate()[0], file=sys.stderr)
    for process, output in zip(processes, outputs):
        assert process.returncode == 0, outputs
    return outputs


def run_late(network):
    """A second trader comes while the stream runs: its own begins with a later message."""
    # Packets that are due 40 ms apart at most: a busy machine hardly makes the stream longer.
    processes = [start(network, 0, 'exchange', 1, False,
                       ['--messages', '4000', '--rate', '500', '--batch', '20'])]
    try:
        for end in (1, 2):
            processes.append(start(network, end, 'trader', 1, False, []))
            processes[-1].stdout.readline()
        outputs = [process.communicate(timeout=SECONDS)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    firsts = [numbers(rf'trader 10.9.0.{end}: from message (\d+)', outputs[0])[0] for end in (2, 3)]
    wanted = [numbers(r'trader: (\d+) messages: ', output)[0] for output in outputs[1:]]
    assert sorted(firsts)[0] == 1 and sorted(firsts)[1] > 1, outputs
    assert [first + count for first, count in zip(firsts, wanted)] == [4001, 4001], outputs


def run_deserted(network):
    """The exchange goes in the middle of the stream: the trader says so and ends."""
    exchange = start(network, 0, 'exchange', 1, True, ['--messages', '10000000'])
    trader = start(network, 1, 'trader', 1, True, [])
    try:
        for process in (exchange, trader):
            process.stdout.readline()
        time.sleep(3)
        exchange.terminate()
        outputs = [process.communicate(timeout=SECONDS)[0] for process in (exchange, trader)]
    finally:
        for process in (exchange, trader):
            process.kill()
    assert exchange.returncode == trader.returncode == 1, outputs
    last = [output.splitlines()[-1] for output in outputs]
    assert last[0] == 'uroce-feed: interrupted', outputs
    assert last[1] in (
        'uroce-feed: the connection to the exchange fails: transport retry counter exceeded',
        'uroce-feed: nothing came from the exchange for 10 s: is it still running?'), outputs


def numbers(pattern, output):
    found = re.search(pattern, output)
    assert found, f'{pattern} is not in\n{output}'
    return [int(group) for group in found.groups()]


def judge(exchange, traders):
    withheld = numbers(r'(\d+) packets of A and (\d+) of B withheld', exchange)
    assert min(withheld) > 0, exchange
    for output in traders:
        delivered, recovered, lost = numbers(
            rf'trader: {MESSAGES} messages: (\d+) delivered, (\d+) recovered, (\d+) lost', output)
        assert delivered + recovered == MESSAGES and lost == 0, output
        for side in 'AB':
            assert numbers(rf'trader: {side} .* (\d+) gaps', output)[0] > 0, output
        assert numbers(r'trader: (\d+) orders, (\d+) fills', output) == 2 * [TRIGGERS]
    each = f'{TRIGGERS} orders, {TRIGGERS} fills, 0 orders refused'
    assert exchange.count(each) == len(traders), exchange


def main():
    if os.geteuid() != 0:
        print('needs root: network namespaces and packet sockets')
        sys.exit(77)
    for title, ends, ports, shared, ipv6 in (
            ('shared ports', 2, 1, True, False), ('shared ports, IPv6', 2, 1, True, True),
            ('own ports, a port for each feed', 2, 2, False, False),
            ('own ports, a port for each feed, IPv6', 2, 2, False, True),
            ('own ports, two traders', 3, 1, False, False)):
        begin = time.monotonic()
        network = Network(ends, ports, shared, ipv6)
        try:
            exchange, *traders = run(network, ports, shared)
        finally:
            network.remove()
        judge(exchange, traders)
        print(f'ok: {title} ({time.monotonic() - begin:.0f} s)\n{exchange}{"".join(traders)}',
              flush=True)
    for title, ends, shared, go in (('a trader that comes late', 3, False, run_late),
                                    ('an exchange that goes', 2, True, run_deserted)):
        network = Network(ends, 1, shared)
        try:
            go(network)
        finally:
            network.remove()
        print(f'ok: {title}', flush=True)


if __name__ == '__main__':
    main()
