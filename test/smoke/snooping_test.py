#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Own ports behind a Linux bridge that snoops: what of a group it forwards, and when.

  snooping_test.py UROCE-MEMBER

Two uroce processes in two network namespaces, one sends to a group all the time; a bridge with a
querier joins them, which asks every 3 s and forgets a member after 7 s. It forwards only while the
other process is attached, goes on doing so past three of these intervals, stops within one when
that process is deaf to queries, begins again when it is not, and stops soon after a detach. Where
the querier knows sources, only what is attached by the sender's address is forwarded. IGMPv3,
IGMPv2 (which our side falls back to) and MLDv2, at the same time.
"""
import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time

from scratch import Scratch
from shell import run

MEMBER = sys.argv[1]
CPUS = sorted(os.sched_getaffinity(0))
MEMBERSHIP = 7.0  # seconds after the last report until the bridge forgets
SLACK = 4.0  # what a busy machine may take on top
FIELDS = ['eth.src', 'eth.dst', 'ip.src', 'ip.ttl', 'ip.opt.ra', 'ipv6.hlim',
          'ipv6.opt.router_alert', 'igmp.type', 'igmp.record_type', 'igmp.maddr', 'icmpv6.type',
          'icmpv6.mldr.mar.record_type', 'icmpv6.mldr.mar.multicast_address', '_ws.malformed']

Case = collections.namedtuple('Case', 'name version group ipv6 by_source')
CASES = [Case('IGMPv3', 'mcast_igmp_version 3', '239.7.7.7', False, True),
         Case('IGMPv2', 'mcast_igmp_version 2', '239.7.7.7', False, False),
         Case('MLDv2', 'mcast_mld_version 2', 'ff15::7:707', True, True)]


class Network:
    """Namespaces a (sends), b (listens) and the bridge's m."""

    def __init__(self, case):
        self.names = {letter: f'uroce-{case.name}-{letter}-{os.getpid()}' for letter in 'abm'}
        self.scratch = Scratch()
        try:
            for name in self.names.values():
                self.scratch.namespace(name)
                run(f'ip netns exec {name} sysctl -qw net.ipv6.conf.default.accept_dad=0')
            m = self.names['m']
            run(f'ip -n {m} link add br0 type bridge mcast_snooping 1 {case.version} '
                'mcast_query_interval 300 mcast_startup_query_interval 100 '
                'mcast_query_response_interval 100 mcast_membership_interval 700 '
                'mcast_last_member_interval 50')  # in hundredths of a second
            for letter in 'ab':
                name = self.names[letter]
                run(f'ip link add v{letter} netns {name} type veth peer name p{letter} netns {m}')
                run(f'ip netns exec {name} sysctl -qw net.ipv6.conf.v{letter}.disable_ipv6=1')
                run(f'ip -n {m} link set p{letter} master br0 up')
                run(f'ip -n {name} link set v{letter} up')
            run(f'ip -n {m} link set br0 up')
            # Afterwards: it takes the intervals that are set at this moment.
            run(f'ip -n {m} link set br0 type bridge mcast_querier 1')
        except BaseException:
            self.remove()
            raise

    def inside(self, letter, *command):
        return ['ip', 'netns', 'exec', self.names[letter], *command]

    def mac(self, letter):
        text = run(f'ip -n {self.names[letter]} -o link show v{letter}')
        return text.split('link/ether ')[1].split()[0]

    def sends_within(self, seconds):
        """Whether the sender puts its messages on the wire."""
        def count():
            text = run(f"ip -n {self.names['m']} -s -j link show pa")
            return json.loads(text)[0]['stats64']['rx']['packets']
        first, limit = count(), time.time() + seconds
        while time.time() < limit and count() < first + 50:
            time.sleep(0.2)
        return count() >= first + 50

    def remove(self):
        self.scratch.remove()


class Forwarded:
    """When the bridge sent a packet of the group to the listener's end, in seconds."""

    def __init__(self, network, group, folder):
        self.file = folder / 'forwarded'
        with open(self.file, 'w', encoding='ascii') as output:
            self.process = subprocess.Popen(
                network.inside('m', 'tcpdump', '-i', 'pb', '-l', '-n', '-tt', '-q',
                               '--immediate-mode', f'dst host {group} and udp port 4791'),
                stdout=output, stderr=subprocess.DEVNULL)

    def times(self, since, until=float('inf')):
        text = self.file.read_text(encoding='ascii').split('\n')[:-1]
        return [t for t in (float(line.split()[0]) for line in text) if since <= t < until]

    def flows_within(self, since, seconds):
        while time.time() < since + seconds:
            if self.times(since):
                return True
            time.sleep(0.05)
        return bool(self.times(since))

    def silent_since(self, limit):
        """The time of the last packet, when none has come for a second; None after the limit."""
        while time.time() < limit + 1:
            times = self.times(time.time() - 1.2)
            if not times:
                past = self.times(0)
                return past[-1] if past else 0.0
            time.sleep(0.05)
        return None


class Run(threading.Thread):
    def __init__(self, case):
        super().__init__()
        self.case, self.error, self.seconds = case, None, 0.0

    def run(self):
        start = time.monotonic()
        try:
            with Scratch() as scratch:
                self.folder = scratch.folder('uroce-snooping-')
                self.network = Network(self.case)
                try:
                    self.story()
                finally:
                    self.network.remove()
                self.judge()
        except BaseException as error:  # told by the main thread
            self.error = error
        self.seconds = time.monotonic() - start

    def story(self):
        capture = subprocess.Popen(
            self.network.inside('m', 'tcpdump', '-i', 'pb', '-w', str(self.folder / 'pcap'), '-U',
                                '-Z', 'root', '--immediate-mode', 'igmp or (ip6 and ip6[6] == 0)'),
            stderr=subprocess.DEVNULL)
        forwarded = Forwarded(self.network, self.case.group, self.folder)
        self.mac = self.network.mac('b')
        sender, listener = self.launch('a', 1), self.launch('b', 2)
        try:
            self.say(sender, 'send')
            self.attach_and_detach(listener, forwarded)
            for process in sender, listener:
                output = process.communicate(timeout=30)[0]
                assert process.returncode == 0, output
        finally:
            for process in sender, listener, capture, forwarded.process:
                if process.poll() is None:
                    process.send_signal(signal.SIGCONT)
                    process.terminate()
                process.wait(timeout=20)

    def launch(self, letter, number):
        command = [MEMBER, self.case.group, '--',
                   f'--vdev=net_af_packet0,iface=v{letter},framesz=2048,blocksz=4096,framecnt=512',
                   '--no-huge', '--no-pci', '-m', '256', '--no-shconf', '--no-telemetry',
                   '--lcores', f'0@{CPUS[number % len(CPUS)]}', '--', '--port',
                   f'net_af_packet0,own,address=10.9.0.{number}/24,address=fd00:9::{number}/64']
        return subprocess.Popen(self.network.inside(letter, *command), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def say(self, process, line):
        assert process.poll() is None, process.communicate()[0]
        process.stdin.write(line + '\n')
        process.stdin.flush()
        return time.time()

    def attach_and_detach(self, listener, forwarded):
        assert self.network.sends_within(30), 'the sender does not send'
        time.sleep(4)  # both sides have heard a query, and a new bridge floods no longer
        assert not forwarded.times(time.time() - 1.5), 'forwarded without a member'
        if self.case.by_source:
            self.by_source(listener, forwarded)
        attached = self.say(listener, 'attach')
        assert forwarded.flows_within(attached, SLACK), 'not forwarded to a member'
        time.sleep(3 * MEMBERSHIP + 1)
        times = forwarded.times(attached)
        longest = max(b - a for a, b in zip(times, times[1:] + [time.time()]))
        assert longest < SLACK, f'not forwarded for {longest:.1f} s'
        deaf = time.time()
        listener.send_signal(signal.SIGSTOP)  # ip netns exec has become the program
        silent = forwarded.silent_since(deaf + MEMBERSHIP + SLACK)
        assert silent is not None, 'forwarded to a member that answers no query'
        assert silent > deaf, 'stopped before the member was deaf'
        hears = time.time()
        listener.send_signal(signal.SIGCONT)
        assert forwarded.flows_within(hears, 3 + 1 + SLACK), 'a query is not answered'
        detached = self.say(listener, 'detach')
        silent = forwarded.silent_since(detached + 1 + SLACK)
        assert silent is not None, 'forwarded after the detach'

    def by_source(self, listener, forwarded):
        sender, other = ('fd00:9::1', 'fd00:9::77') if self.case.ipv6 else ('10.9.0.1', '10.9.0.77')
        self.say(listener, f'attach {other}')
        since = time.time()
        assert not forwarded.flows_within(since, 2), 'forwarded from a source that nobody wants'
        since = self.say(listener, f'attach {sender}')
        assert forwarded.flows_within(since, SLACK), 'not forwarded from a source that is wanted'
        since = self.say(listener, f'detach {sender}')
        silent = forwarded.silent_since(since + 1 + SLACK)
        assert silent is not None, 'forwarded after the source has gone'
        self.say(listener, f'detach {other}')

    def judge(self):
        """What the listener's end has seen of the protocol."""
        command = ['tshark', '-r', str(self.folder / 'pcap'), '-T', 'fields', '-E', 'separator=|']
        for field in FIELDS:
            command += ['-e', field]
        packets = [dict(zip(FIELDS, line.split('|'))) for line in run(command).splitlines()]
        count = collections.Counter()
        for packet in packets:
            assert not packet['_ws.malformed'], packet
            kind = self.kind(packet)
            if kind:
                count[kind] += 1
            if kind and kind != 'query':
                ttl, alert = (('ipv6.hlim', 'ipv6.opt.router_alert') if self.case.ipv6
                              else ('ip.ttl', 'ip.opt.ra'))
                assert packet[ttl] == '1' and packet[alert] == '0', packet
                assert packet['eth.dst'] == self.destination(kind), packet
        # Five queries at least in 22 s; one report each in answer, joins and leaves twice.
        assert count['query'] >= 5 and count['answer'] >= 5, count
        assert count['join'] >= 1 and count['leave'] >= 1, count

    def kind(self, packet):
        ours = packet['eth.src'] == self.mac
        if self.case.ipv6:
            if not ours:
                return 'query' if packet['icmpv6.type'] == '130' else None
            groups = packet['icmpv6.mldr.mar.multicast_address'].split(',')
            records = packet['icmpv6.mldr.mar.record_type'].split(',')
        else:
            if not ours:
                query = packet['igmp.type'] == '0x11'
                assert not query or packet['ip.src'] == '0.0.0.0', packet
                return 'query' if query else None
            if not self.case.by_source:
                kinds = {'0x16': 'answer', '0x17': 'leave'}
                self.joined = getattr(self, 'joined', 0) + (packet['igmp.type'] == '0x16')
                kind = kinds.get(packet['igmp.type'])
                return 'join' if kind == 'answer' and self.joined <= 2 else kind
            groups = packet['igmp.maddr'].split(',')
            records = packet['igmp.record_type'].split(',')
        for group, record in zip(groups, records):
            if group == self.case.group:
                return {'1': 'answer', '2': 'answer', '3': 'leave',
                        '6': 'leave'}.get(record, 'join')
        return None

    def destination(self, kind):
        if self.case.ipv6:
            return '33:33:00:00:00:16'
        if self.case.by_source:
            return '01:00:5e:00:00:16'
        return '01:00:5e:00:00:02' if kind == 'leave' else '01:00:5e:07:07:07'


def main():
    if os.geteuid() != 0:
        print('needs root: network namespaces and packet sockets')
        sys.exit(77)
    wanted = sys.argv[2:]
    runs = [Run(case) for case in CASES if not wanted or case.name in wanted]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    for one in runs:
        if one.error is not None:
            print(f'{one.case.name}: {type(one.error).__name__}: {one.error}', file=sys.stderr)
        else:
            print(f'ok: {one.case.name} ({one.seconds:.0f} s)', flush=True)
    sys.exit(any(one.error is not None for one in runs))


if __name__ == '__main__':
    main()
