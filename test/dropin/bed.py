# SPDX-License-Identifier: BSD-3-Clause
"""Where two unmodified RDMA programs meet: each by uroce-run, in namespaces made for them.

What a bed makes goes with it, and with the test, however that ends: namespaces take along their
interfaces and the processes inside.
"""
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'smoke'))
from scratch import Scratch  # noqa: E402
from shell import run  # noqa: E402

CAPTURED_MAX = 200_000  # frames of one bed
PCAP_HEADER = 24  # bytes before the first frame
SKIPPED = 77  # meson's word for a test that could not be made


def cannot_run(packages):
    """Why a test that makes beds cannot run here, or ''. `packages`: by the program of them that it
    runs."""
    if os.geteuid() != 0:
        return 'needs root for network namespaces and packet sockets'
    for program, package in packages.items():
        if shutil.which(program) is None:
            return f'no {program}: apt-get install {package}'
    return ''


class Failed(Exception):
    """An exchange that went wrong, with what both programs said."""


class LastAcknowledgement(Failed):
    """One end had done all its work and was gone, the other repeated its last message in vain, some
    without an end.
    These programs do not wait for each other, so where frames are lost an ACK that is lost last
    ends like this on any device."""


def wait_for(what, condition, seconds=20):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise Failed(f'{seconds} s have passed without {what}')
        time.sleep(0.02)


class Bed:
    """Two ends, 'a' and 'b'. GID indexes: `gids` by IP version. `server_host`: where the programs'
    own TCP connection finds end a. `addresses`: of the devices, IPv4."""
    gids = {4: 1, 6: 2}
    addresses = {'a': '10.9.0.1', 'b': '10.9.0.2'}
    seconds = 60  # for an exchange
    loses_frames = False
    sniffer = None  # a Capture of what goes over the wire
    numbers = itertools.count()  # of namespaces, which are the machine's

    def __init__(self, uroce_run):
        self.uroce_run = pathlib.Path(uroce_run).resolve()
        self.scratch = Scratch()
        self.folder = self.scratch.folder('uroce-dropin-')
        try:
            self.make()
        except BaseException:
            self.remove()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        if self.sniffer:
            self.sniffer.discard()
        self.scratch.remove()

    def add_namespace(self, letter):
        name = self.scratch.namespace(f'uroce-{letter}-{os.getpid()}-{next(self.numbers)}')
        run(f'ip netns exec {name} sysctl -qw net.ipv6.conf.default.accept_dad=0')
        run(f'ip -n {name} link set lo up')
        return name

    def inside(self, end, command):
        return ['ip', 'netns', 'exec', self.namespace(end), *map(str, command)]

    def start(self, end, program, output=subprocess.PIPE):
        command = [self.uroce_run, '--port', self.port(end), *program]
        return subprocess.Popen(self.inside(end, command), stdin=subprocess.DEVNULL,
                                stdout=output, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, 'TMPDIR': str(self.folder)})

    def listens(self, end, tcp_port):
        return f':{tcp_port} ' in run(self.inside(end, ['ss', '-Hltn']))

    def host(self, _server_end):
        return self.server_host

    def alone(self, program, seconds=30):
        """The output of a program that needs no peer."""
        with self.start('a', program) as process:
            return finish({'a': process}, program, seconds)['a']

    def mark(self):
        """A place in the capture of what goes over the wire, for since()."""
        return self.sniffer.size() if self.sniffer else 0

    def since(self, mark):
        return self.sniffer.since(mark) if self.sniffer else b''

    def judge(self, info):
        return self.sniffer.judge(info) if self.sniffer else 'nothing to capture'

    def excuse(self, failure, _server_end, _frames):
        """Why an exchange that failed may be tried again, or ''. `_frames`: a capture of it."""
        alone = self.loses_frames and isinstance(failure, LastAcknowledgement)
        return 'the last ACK may be lost' if alone else ''

    def exchange(self, exchange, server_end='a'):
        """What the client of a programs.Exchange said. Both ends must succeed, and say so."""
        processes, name = {}, exchange.server[0]
        try:
            processes['server'] = self.start(server_end, exchange.server)
            wait_for(f'{name} listening', lambda: self.listens(server_end, exchange.tcp_port)
                     or processes['server'].poll() is not None, self.seconds)
            client_end = 'b' if server_end == 'a' else 'a'
            client = [*exchange.client, self.host(server_end)]
            processes['client'] = self.start(client_end, client)
            said = finish(processes, exchange.client, self.seconds)
            exchange.judge(said['client'], said['server'])
            return said['client']
        finally:
            for process in processes.values():
                if process.poll() is None:
                    process.kill()
                process.communicate()


def await_ends(processes, limit):
    """Until all have ended or the time is over; who is left alone gets some seconds more. What they
    say fits into their pipes."""
    running = list(processes)
    while running and time.monotonic() < limit:
        left = [process for process in running if process.poll() is None]
        if len(left) < len(running):
            failed = any(process.returncode for process in processes)
            limit = min(limit, time.monotonic() + (5 if failed else 40))
        running = left
        time.sleep(0.02)


def finish(processes, command, seconds):
    """Outputs by name, of processes that have all returned 0 in time."""
    limit, outputs, wrong = time.monotonic() + seconds, {}, []
    await_ends(list(processes.values()), limit)
    for name, process in reversed(processes.items()):
        try:
            outputs[name] = process.communicate(timeout=0.5)[0]
            if process.returncode != 0:
                wrong.append(f'{name} returned {process.returncode}')
        except subprocess.TimeoutExpired:
            process.kill()
            outputs[name] = process.communicate()[0]
            wrong.append(f'{name} had not finished, of {seconds} s')
    if wrong:
        told = ''.join(outputs[name] for name, process in processes.items() if process.returncode)
        done = any(process.returncode == 0 for process in processes.values())
        alone = 'retry counter exceeded' in told or 'had not finished' in ''.join(wrong)
        kind = LastAcknowledgement if done and alone else Failed
        raise kind(f'{" ".join(map(str, command))}: {"; ".join(wrong)}\n' + '\n'.join(
            f'--- {name}:\n{text}' for name, text in outputs.items()))
    return outputs


class Capture:
    """Frames that `process` writes into the file `path`, until it is stopped."""

    def __init__(self, process, path):
        self.process, self.path = process, path

    def size(self):
        return self.path.stat().st_size

    def since(self, size):
        """A capture of what came after the file had that size."""
        with self.path.open('rb') as file:
            head = file.read(PCAP_HEADER)
            file.seek(max(size, PCAP_HEADER))
            return head + file.read()

    def stop(self):
        time.sleep(0.5)
        self.process.terminate()
        if self.process.wait() != 0:
            raise Failed(f'{" ".join(map(str, self.process.args))} returned '
                         f'{self.process.returncode}')

    def discard(self):
        self.process.kill()
        self.process.wait()

    def judge(self, info, frames_max=20_000, seconds=120):
        """Every frame is well-formed, and so is its ICRC."""
        self.stop()
        decoded = run([info, 'decode', '--summary', str(self.path)], seconds=seconds)
        malformed = run(['tshark', '-r', str(self.path), '-c', str(frames_max),
                         '--disable-protocol', 'rpcordma', '--disable-heuristic', 'eth_over_ib',
                         '--disable-heuristic', 'mellanox_eoib',
                         '-o', 'udp.ignore_ipv6_zero_checksum:TRUE', '-Y', '_ws.malformed'],
                        seconds=seconds)
        if malformed:
            raise Failed(f'tshark finds malformed frames:\n{malformed[:2000]}')
        return decoded.strip().splitlines()[-1]


class Sniffer(Capture):
    """Takes the RoCE frames of one interface down."""

    def __init__(self, inside, interface, path, frames_max=CAPTURED_MAX):
        """`inside`: makes of a command one that runs where the interface is."""
        super().__init__(subprocess.Popen(
            inside(['tcpdump', '-i', interface, '-w', path, '-U', '--immediate-mode',
                    '-B', '65536', '-c', frames_max, '-s', '9216', '-Z', 'root', 'udp port 4791']),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), pathlib.Path(path))
        wait_for('tcpdump', lambda: self.path.exists() and self.size() >= PCAP_HEADER)


class Tap(Capture):
    """Joins the memifs at two sockets, and takes all their frames down. `command`: the program."""

    def __init__(self, command, sockets, path):
        super().__init__(subprocess.Popen([*command, path, str(CAPTURED_MAX), *sockets],
                                          stdout=subprocess.PIPE, text=True), path)
        if not self.process.stdout.readline():
            self.discard()
            raise Failed(f'{command} has ended before it was ready')

    def discard(self):
        super().discard()
        self.process.stdout.close()


class Veth(Bed):
    """A namespace for each end. The port is shared with the kernel: its addresses are ours."""
    title = 'veth, net_af_packet'
    loses_frames = True  # when a ring of packets is full
    server_host = '10.9.0.1'

    def make(self):
        self.by_end = {end: self.add_namespace(end) for end in 'ab'}
        a, b = self.by_end.values()
        run(f'ip link add va netns {a} type veth peer name vb netns {b}')
        for number, (end, name) in enumerate(self.by_end.items(), 1):
            run(f'ip -n {name} link set v{end} mtu 9000 up')
            run(f'ip -n {name} addr add 10.9.0.{number}/24 dev v{end}')
            run(f'ip -n {name} addr add fd00:9::{number}/64 dev v{end} nodad')
        self.sniffer = Sniffer(lambda command: self.inside('a', command), 'va',
                               self.folder / 'veth.pcap')

    def namespace(self, end):
        return self.by_end[end]

    def port(self, end):
        return f'net_af_packet,iface=v{end}'


class Memif(Bed):
    """Both ends in one namespace, joined by shared memory and configured alike. The ports are our
    own."""
    title = 'memif'
    server_host = '127.0.0.1'

    def make(self):
        self.name = self.add_namespace('m')

    def namespace(self, end):
        return self.name

    def socket(self, _end):
        return f'{self.folder}/memif.sock'

    def port(self, end):
        number = 'ab'.index(end) + 1
        return (f'net_memif,socket={self.socket(end)},'
                f'address=10.9.0.{number}/24,address=fd00:9::{number}/64')


class TappedMemif(Memif):
    """Each end has a memif of its own. A tap joins them, which is there before and after them."""
    title = 'memif with a tap'
    seconds = 2 * Memif.seconds  # three processes wait for the CPUs in turn

    def __init__(self, uroce_run, memif_tap):
        self.memif_tap = memif_tap
        super().__init__(uroce_run)

    def make(self):
        super().make()
        self.sniffer = Tap(self.inside('a', [self.memif_tap]), map(self.socket, 'ab'),
                           self.folder / 'memif.pcap')

    def socket(self, end):
        return f'{self.folder}/{end}.sock'
