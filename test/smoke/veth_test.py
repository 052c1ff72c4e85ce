#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two uroce processes in two network namespaces, joined by a bridge in a third that listens.

  veth_test.py UROCE-TRAFFIC UROCE-INFO

Ports shared with the kernel and ports of our own, IPv4 and IPv6, path MTU 1024 and 4096, inline and
(on two CPUs) with a worker in each process. In each run the traffic is checked by both processes;
pings and address resolution get exactly one answer; groups come and go at the host's filter and on
the wire, those of our own IPv6 addresses too; and what the bridge saw decodes.
"""
import collections
import os
import re
import subprocess
import sys
import time

from scratch import Scratch
from shell import run

TRAFFIC, INFO = sys.argv[1:3]
CPUS = sorted(os.sched_getaffinity(0))
SECONDS = 60  # longest that a process may take
ENDS = {'server': ('a', 1), 'client': ('b', 2)}
GROUPS = {False: ('239.7.7.7', '01:00:5e:07:07:07'), True: ('ff15::7:707', '33:33:00:07:07:07')}
FIELDS = ['eth.src', 'eth.dst', 'arp.opcode', 'arp.src.proto_ipv4', 'arp.dst.proto_ipv4',
          'icmp.type', 'icmp.code', 'icmpv6.type', 'icmpv6.code', 'ip.src', 'ipv6.src',
          'icmpv6.nd.ns.target_address', 'icmpv6.nd.na.target_address', 'igmp.maddr',
          'igmp.record_type', 'icmpv6.mldr.mar.multicast_address', 'icmpv6.mldr.mar.record_type',
          'udp.dstport', '_ws.malformed']
JOIN, LEAVE = {'4'}, {'3'}  # record types: to EXCLUDE of nothing, to INCLUDE of nothing


def wait_for(what, condition, seconds=20):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError(f'{seconds} s have passed without {what}')
        time.sleep(0.02)


class Network:
    """Namespaces a, b and the bridge's m. They take all that is in them along when they go."""

    def __init__(self, shared):
        self.names = {letter: f'uroce-{letter}-{os.getpid()}' for letter in 'abm'}
        self.scratch = Scratch()
        try:
            for name in self.names.values():
                self.scratch.namespace(name)
                self.sysctl(name, 'default.accept_dad=0', 'all.accept_dad=0')
            self.make_bridge()
            for letter, number in ENDS.values():
                self.make_end(letter, number, shared)
        except BaseException:
            self.remove()
            raise

    def sysctl(self, name, *settings):
        for setting in settings:
            run(f'ip netns exec {name} sysctl -qw net.ipv6.conf.{setting}')

    def make_bridge(self):
        m = self.names['m']
        run(f'ip -n {m} link add br0 type bridge mcast_snooping 0')
        run(f'ip -n {m} link set br0 mtu 9000 up')
        run(f'ip -n {m} addr add 10.9.0.9/24 dev br0')
        run(f'ip -n {m} addr add fd00:9::9/64 dev br0 nodad')

    def make_end(self, letter, number, shared):
        m, name = self.names['m'], self.names[letter]
        run(f'ip link add v{letter} netns {name} type veth peer name p{letter} netns {m}')
        run(f'ip -n {m} link set p{letter} mtu 9000 master br0 up')
        if not shared:
            self.sysctl(name, f'v{letter}.disable_ipv6=1')
        run(f'ip -n {name} link set v{letter} mtu 9000 up')
        if shared:
            run(f'ip -n {name} addr add 10.9.0.{number}/24 dev v{letter}')
            run(f'ip -n {name} addr add fd00:9::{number}/64 dev v{letter} nodad')

    def mac(self, letter):
        text = run(f'ip -n {self.names[letter]} link show v{letter}')
        return re.search(r'link/ether (\S+)', text).group(1)

    def filters(self, letter):
        return run(f'ip -n {self.names[letter]} maddr show dev v{letter}')

    def inside(self, letter, *command):
        return ['ip', 'netns', 'exec', self.names[letter], *command]

    def remove(self):
        self.scratch.remove()


class Sniffer:
    """tcpdump on the bridge's port to one end. In immediate mode: of what it is handed a block at a
    time it can lose a part when it ends, without counting it."""

    def __init__(self, network, letter, folder):
        self.file = folder / f'{letter}.pcap'
        self.process = subprocess.Popen(
            network.inside('m', 'tcpdump', '-i', f'p{letter}', '-w', self.file, '-U', '-B', '32768',
                           '--immediate-mode', '-s', '9216', '-Z', 'root'),
            stderr=subprocess.PIPE, text=True)
        try:
            wait_for('tcpdump', self.file.exists)
        except BaseException:
            self.process.kill()
            raise
        time.sleep(0.3)

    def stop(self):
        if self.process.poll() is None:
            time.sleep(0.5)
            self.process.terminate()
        words = self.process.communicate(timeout=20)[1]
        return re.search(r'^0 packets dropped by kernel', words, re.MULTILINE) is not None


class Run:
    def __init__(self, shared, ipv6, path_mtu, worker=False):
        self.shared, self.ipv6, self.path_mtu, self.worker = shared, ipv6, path_mtu, worker
        self.title = (f'{"shared" if shared else "own"} ports, IPv{6 if ipv6 else 4}, '
                      f'path MTU {path_mtu}{", worker mode" if worker else ""}')

    def go(self):
        start = time.monotonic()
        with Scratch() as scratch:
            self.folder = scratch.folder('uroce-veth-')
            self.network = Network(self.shared)
            try:
                self.macs = {letter: self.network.mac(letter) for letter, _ in ENDS.values()}
                self.capture()
            finally:
                self.network.remove()
            self.judge()
        print(f'ok: {self.title} ({time.monotonic() - start:.0f} s)', flush=True)

    def capture(self):
        sniffers, processes = [], {}
        try:
            for letter, _ in ENDS.values():
                sniffers.append(Sniffer(self.network, letter, self.folder))
            for role in ENDS:
                processes[role] = self.start(role)
            self.look_at_host(processes)
            outputs = {role: process.communicate(timeout=SECONDS)[0]
                       for role, process in processes.items()}
            for role, process in processes.items():
                assert process.returncode == 0, f'{role}: {outputs[role]}'
        finally:
            for process in processes.values():
                if process.poll() is None:
                    process.kill()
                    print(process.communicate()[0], file=sys.stderr)
            complete = [sniffer.stop() for sniffer in sniffers]
        assert all(complete), 'tcpdump lost packets'
        self.counted = [sum(map(int, re.findall(r'RoCE packets sent: (\d+)', text)))
                        for text in outputs.values()]

    def start(self, role):
        letter, number = ENDS[role]
        core = CPUS[(number - 1) % len(CPUS)]
        port = 'net_af_packet0' if self.shared else (
            f'net_af_packet0,own,address=10.9.0.{number}/24,address=fd00:9::{number}/64')
        command = [TRAFFIC, '--role', role, '--folder', str(self.folder), '--paced', '--path-mtu',
                   str(self.path_mtu)] + (['--ipv6'] if self.ipv6 else [])
        # A worker shares its CPU with the other side's application: a message costs a time slice.
        if self.worker:
            command += ['--yield', '--rounds', '20']
            lcores, mode = f'0@{CPUS[number % 2]},1@{core}', 'worker'
        else:
            lcores, mode = f'0@{core}', 'inline'
        command += ['--', f'--vdev=net_af_packet0,iface=v{letter},framesz=8192,blocksz=8192,'
                    'framecnt=512', '--no-huge', '--no-pci', '-m', '256', '--no-shconf',
                    '--no-telemetry', '--lcores', lcores, '--', '--mode', mode, '--port', port]
        return subprocess.Popen(self.network.inside(letter, *command), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def reach(self, processes, topic):
        """Both processes wait at `topic`."""
        def here():
            for role, process in processes.items():
                if process.poll() is not None:
                    raise AssertionError(f'{role} ended early: {process.communicate()[0]}')
            return all((self.folder / f'{role}.{topic}').exists() for role in processes)
        wait_for(f'both sides at {topic}', here, SECONDS)

    def look_at_host(self, processes):
        topic = 'group6' if self.ipv6 else 'group4'
        mac = GROUPS[self.ipv6][1]
        self.reach(processes, f'{topic}-heard-wait')
        for letter, number in ENDS.values():
            filters = self.network.filters(letter)
            assert mac in filters, f'{mac} is not open on v{letter}'
            solicited = f'33:33:ff:00:00:0{number}'
            assert solicited in filters, f'{solicited} is not open on v{letter}'
            self.ping(letter, number)
        if self.shared:
            self.change_address()
        (self.folder / f'{topic}-heard-wait.go').touch()
        self.reach(processes, f'{topic}-left-wait')
        for letter, _ in ENDS.values():
            assert mac not in self.network.filters(letter), f'{mac} is still open on v{letter}'
        (self.folder / f'{topic}-left-wait.go').touch()

    def change_address(self):
        """An address that the kernel gets or loses is followed: its RoCE port is held or let go."""
        name = self.network.names['a']

        def held():
            return '10.9.0.77:4791' in run(self.network.inside('a', 'ss', '-Huln'))
        assert not held()
        run(f'ip -n {name} addr add 10.9.0.77/24 dev va')
        wait_for('the new address in use', held)
        run(f'ip -n {name} addr del 10.9.0.77/24 dev va')
        wait_for('the old address given up', lambda: not held())

    def ping(self, letter, number):
        # One at a time: of several, ping gives the last one no more time than the interval. A
        # second answer to any of them is seen in the capture.
        for address in 3 * (f'10.9.0.{number}', f'fd00:9::{number}'):
            text = run(self.network.inside('m', 'ping', '-c', '1', '-W', '5', address))
            assert ' 1 received' in text, text

    def judge(self):
        for letter, _ in ENDS.values():
            self.judge_capture(letter, self.folder / f'{letter}.pcap')

    def judge_capture(self, letter, file):
        packets = self.tshark(file)
        for packet in packets:
            assert not packet['_ws.malformed'], packet
            assert (packet['icmp.type'], packet['icmp.code']) != ('3', '3'), 'port unreachable'
            assert (packet['icmpv6.type'], packet['icmpv6.code']) != ('1', '4'), 'port unreachable'
        roce = [packet for packet in packets if packet['udp.dstport'] == '4791']
        for mac in self.macs.values():
            assert any(packet['eth.src'] == mac for packet in roce), f'no RoCE packet from {mac}'
        assert len(self.counted) == 2 and len(roce) == sum(self.counted), (len(roce), self.counted)
        decoded = run([INFO, 'decode', str(file)])
        summary = decoded.strip().splitlines()[-1]
        assert f'{len(roce)} RoCE' in summary, f'{len(roce)} RoCE packets seen, but: {summary}'
        self.judge_answers(letter, packets)
        self.judge_membership(letter, packets)
        if not self.shared:  # the kernel has reported its addresses before
            self.judge_solicited_node(letter, packets)

    def judge_answers(self, letter, packets):
        """Each question of the bridge to this end has one answer."""
        mac, number = self.macs[letter], dict(ENDS.values())[letter]
        count = collections.Counter()
        for packet in packets:
            sent = packet['eth.src'] == mac
            if packet['arp.dst.proto_ipv4'] == f'10.9.0.{number}' and not sent:
                count['arp asked'] += packet['arp.opcode'] == '1'
            if packet['arp.src.proto_ipv4'] == f'10.9.0.{number}' and sent:
                count['arp answered'] += packet['arp.opcode'] == '2'
            if packet['icmpv6.nd.ns.target_address'] == f'fd00:9::{number}' and not sent:
                count['nd asked'] += 1
            if packet['icmpv6.nd.na.target_address'] == f'fd00:9::{number}' and sent:
                # To all nodes: an announcement, not an answer.
                count['nd answered'] += packet['eth.dst'] != '33:33:00:00:00:01'
            count['ping answered'] += sent and packet['icmp.type'] == '0'
            count['ping6 answered'] += sent and packet['icmpv6.type'] == '129'
        assert count['arp asked'] == count['arp answered'] > 0, count
        assert count['nd asked'] == count['nd answered'] > 0, count
        assert count['ping answered'] == count['ping6 answered'] == 3, count

    def judge_membership(self, letter, packets):
        seen = self.reports(letter, packets, GROUPS[self.ipv6][0], self.ipv6)
        # Twice each, for robustness: more would be two hosts speaking for one address. At its end
        # uroce sees to it that the second leave goes out, the kernel may not.
        assert 1 <= seen['join'] <= 2 and 1 <= seen['leave'] <= 2, (letter, seen)
        assert self.shared or seen['leave'] == 2, (letter, seen)

    def judge_solicited_node(self, letter, packets):
        """Where neighbours ask for our address: reported from the start to the end."""
        group = f'ff02::1:ff00:{dict(ENDS.values())[letter]}'
        seen = self.reports(letter, packets, group, True)
        assert 1 <= seen['join'] <= 2 and seen['leave'] == 2, (letter, seen)
        sources = {packet['ipv6.src'] for packet in packets
                   if packet['eth.src'] == self.macs[letter]
                   and group in packet['icmpv6.mldr.mar.multicast_address'].split(',')}
        assert all(source.startswith('fe80::') for source in sources), sources

    def reports(self, letter, packets, group, ipv6):
        """How often this end has reported that it joins or leaves the group."""
        address, kind = (('icmpv6.mldr.mar.multicast_address', 'icmpv6.mldr.mar.record_type')
                         if ipv6 else ('igmp.maddr', 'igmp.record_type'))
        seen = collections.Counter()
        for packet in packets:
            if packet['eth.src'] != self.macs[letter]:
                continue
            for one, record in zip(packet[address].split(','), packet[kind].split(',')):
                if one == group:
                    seen['join'] += record in JOIN
                    seen['leave'] += record in LEAVE
        return seen

    @staticmethod
    def tshark(file):
        command = ['tshark', '-r', str(file), '--disable-protocol', 'rpcordma',
                   '--disable-heuristic', 'eth_over_ib', '--disable-heuristic', 'mellanox_eoib',
                   '-o', 'udp.ignore_ipv6_zero_checksum:TRUE', '-T', 'fields', '-E', 'separator=|']
        for field in FIELDS:
            command += ['-e', field]
        rows = [line.split('|') for line in run(command, seconds=60).splitlines()]
        return [dict(zip(FIELDS, row)) for row in rows]


def main():
    if os.geteuid() != 0:
        print('needs root: network namespaces and packet sockets')
        sys.exit(77)
    runs = [Run(True, False, 4096), Run(True, True, 4096), Run(False, False, 1024),
            Run(False, True, 4096)]
    if len(CPUS) > 1:
        runs += [Run(True, False, 4096, worker=True), Run(False, True, 4096, worker=True)]
    else:
        print('skipped with one CPU: worker mode')
    for one in runs:
        one.go()


if __name__ == '__main__':
    main()
