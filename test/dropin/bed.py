# SPDX-License-Identifier: BSD-3-Clause
"""Where two unmodified RDMA programs meet: each by uroce-run, in namespaces made for them.

What a bed makes goes with it: namespaces take their interfaces along, and a process that is left
is ended by its handle.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'smoke'))
from shell import run  # noqa: E402

CAPTURED_MAX = 200_000  # frames of one bed


class Failed(Exception):
    """An exchange that went wrong, with what both programs said."""


class LastAcknowledgement(Failed):
    """One end had done all its work and was gone, the other repeated its last message in vain.
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
    own TCP connection finds end a."""
    gids = {4: 1, 6: 2}
    loses_frames = False

    def __init__(self, uroce_run):
        self.uroce_run = pathlib.Path(uroce_run).resolve()
        self.folder = tempfile.TemporaryDirectory(prefix='uroce-dropin-')
        self.namespaces = []
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
        for name in self.namespaces:
            run(f'ip netns del {name}', check=False)
        self.folder.cleanup()

    def add_namespace(self, letter):
        name = f'uroce-{letter}-{os.getpid()}'
        run(f'ip netns add {name}')
        self.namespaces.append(name)
        run(f'ip netns exec {name} sysctl -qw net.ipv6.conf.default.accept_dad=0')
        run(f'ip -n {name} link set lo up')
        return name

    def inside(self, end, command):
        return ['ip', 'netns', 'exec', self.namespace(end), *map(str, command)]

    def start(self, end, program):
        command = [self.uroce_run, '--port', self.port(end), *program]
        return subprocess.Popen(self.inside(end, command), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def listens(self, end, tcp_port):
        return f':{tcp_port} ' in run(self.inside(end, ['ss', '-Hltn']))

    def alone(self, program, seconds=30):
        """The output of a program that needs no peer."""
        with self.start('a', program) as process:
            return finish({'a': process}, program, seconds)['a']

    def exchange(self, server, client, tcp_port, seconds=60):
        """What server and client said, both of which must succeed."""
        processes = {}
        try:
            processes['server'] = self.start('a', server)
            wait_for(f'{server[0]} listening', lambda: self.listens('a', tcp_port)
                     or processes['server'].poll() is not None)
            processes['client'] = self.start('b', [*client, self.server_host])
            return finish(processes, client, seconds)
        finally:
            for process in processes.values():
                if process.poll() is None:
                    process.kill()
                process.communicate()


def finish(processes, command, seconds):
    """Outputs by name, of processes that have all returned 0 in time."""
    limit, outputs, wrong = time.monotonic() + seconds, {}, []
    for name, process in reversed(processes.items()):
        try:
            outputs[name] = process.communicate(timeout=max(3, limit - time.monotonic()))[0]
            if process.returncode != 0:
                wrong.append(f'{name} returned {process.returncode}')
        except subprocess.TimeoutExpired:
            process.kill()
            outputs[name] = process.communicate()[0]
            wrong.append(f'{name} had not finished after {seconds} s')
    if wrong:
        told = ''.join(outputs[name] for name, process in processes.items() if process.returncode)
        done = any(process.returncode == 0 for process in processes.values())
        kind = LastAcknowledgement if done and 'retry counter exceeded' in told else Failed
        raise kind(f'{" ".join(map(str, command))}: {"; ".join(wrong)}\n' + '\n'.join(
            f'--- {name}:\n{text}' for name, text in outputs.items()))
    return outputs


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
        self.capture = pathlib.Path(self.folder.name, 'veth.pcap')
        self.sniffer = subprocess.Popen(
            self.inside('a', ['tcpdump', '-i', 'va', '-w', self.capture, '-U', '-B', '65536',
                              '-c', CAPTURED_MAX, '-s', '9216', '-Z', 'root', 'udp port 4791']),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for('tcpdump', self.capture.exists)

    def remove(self):
        if hasattr(self, 'sniffer'):
            self.sniffer.kill()
            self.sniffer.wait()
        super().remove()

    def namespace(self, end):
        return self.by_end[end]

    def port(self, end):
        return f'net_af_packet,iface=v{end}'

    def judge(self, info):
        """Every frame on the wire is well-formed, and so is its ICRC."""
        time.sleep(0.5)
        self.sniffer.terminate()
        self.sniffer.wait()
        decoded = run([info, 'decode', '--summary', str(self.capture)], seconds=120)
        malformed = run(['tshark', '-r', str(self.capture), '-c', '20000',
                         '--disable-protocol', 'rpcordma', '--disable-heuristic', 'eth_over_ib',
                         '--disable-heuristic', 'mellanox_eoib',
                         '-o', 'udp.ignore_ipv6_zero_checksum:TRUE', '-Y', '_ws.malformed'],
                        seconds=120)
        if malformed:
            raise Failed(f'tshark finds malformed frames:\n{malformed[:2000]}')
        return decoded.strip().splitlines()[-1]


class Memif(Bed):
    """Both ends in one namespace, joined by shared memory and configured alike. The ports are our
    own."""
    title = 'memif'
    server_host = '127.0.0.1'

    def make(self):
        self.name = self.add_namespace('m')

    def namespace(self, end):
        return self.name

    def port(self, end):
        number = 'ab'.index(end) + 1
        return (f'net_memif,socket={self.folder.name}/memif.sock,'
                f'address=10.9.0.{number}/24,address=fd00:9::{number}/64')

    def judge(self, _info):
        return 'nothing to capture'
