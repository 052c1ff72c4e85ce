# SPDX-License-Identifier: BSD-3-Clause
"""Where an unmodified program on our library meets one on the soft-RoCE of an emulated Linux."""
import pathlib
import re
import struct
import subprocess
import sys
import time

import programs
from bed import PCAP_HEADER, Bed, Sniffer
from programs import DEVICE, VERBCASES

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peer/rxe'))
import guest  # noqa: E402

GUEST_DEVICE = 'rxe0'
FRAMES_MAX = 5_000_000
LOSS = 'loss 2% delay 3ms reorder 25%'
# A pingpong's local ACK timeout is 67 ms, seven times over: where others use the processors, the
# guest can stand still for longer. Each end may then give up with nothing wrong on the wire. And
# perftest may find the guest's clock too uneven to measure anything.
STALLED = re.compile(r'retry counter exceeded|Failed status 12|Correlation coefficient')
RC_RESPONSES = range(0x0d, 0x13)  # opcodes of READ responses, ACKs, NAKs and atomic responses


def last_frame(capture):
    """(source MAC, BTH opcode) of the last frame of RoCE in a capture file, or None."""
    at, found = PCAP_HEADER, None
    while at < len(capture):
        frame = capture[at + 16:at + 16 + struct.unpack_from('<I', capture, at + 8)[0]]
        bth = 14 + (20 if frame[12:14] == b'\x08\x00' else 40) + 8
        found = frame[6:12].hex(':'), frame[bth]
        at += 16 + len(frame)
    return found


class GuestProcess:
    """A program in the guest, to be used like a subprocess.Popen."""
    number = 0

    def __init__(self, machine, words, seconds):
        GuestProcess.number += 1
        self.machine, self.name = machine, f'/tmp/process.{GuestProcess.number}'
        self.command = machine.start(f'echo $$ >{self.name}; exec {" ".join(map(str, words))}',
                                     seconds)

    @property
    def returncode(self):
        return self.command.status

    def poll(self):
        self.command.done()
        return self.returncode

    def kill(self):
        if self.poll() is None:
            self.machine.run(f'kill -KILL $(cat {self.name})')

    def wait(self):
        return self.command.wait()[0]

    def communicate(self, timeout=None):
        if timeout is None:
            self.command.wait()
        limit = time.monotonic() + (timeout or 0)
        while not self.command.done(0.2):
            if time.monotonic() > limit:
                raise subprocess.TimeoutExpired(self.command.text, timeout)
        return self.command.output, None


class GuestBed(Bed):
    """End 'a': uroce in a namespace, its port shared with the kernel. End 'b': the guest, whose
    programs may be given the same GID indexes. `images`: the folder where the guest's kernel is
    kept; `verbcases`: our own program, for both. image.Unavailable: there can be no guest here."""
    title = 'rxe'
    addresses = {'a': guest.HOST_IPV4, 'b': guest.GUEST_IPV4}
    seconds = 150  # the guest's is slow

    def __init__(self, uroce_run, images, verbcases):
        self.images, self.verbcases = images, pathlib.Path(verbcases).resolve()
        self.loses_frames = False
        super().__init__(uroce_run)

    def make(self):
        self.link = guest.Link()
        self.boot()
        self.sniffer = Sniffer(lambda command: self.link.inside(*command), 'hub',
                               self.folder / 'hub.pcap', FRAMES_MAX)

    def boot(self):
        self.guest = guest.Guest(self.link, self.images, extra=[self.verbcases])
        self.join_groups()

    def kill_guest(self):
        """The next program at its end boots another one."""
        self.guest.stop()
        self.guest = None

    def remove(self):
        for name, end in (('guest', 'stop'), ('link', 'remove')):
            if getattr(self, name, None):
                getattr(getattr(self, name), end)()
        super().remove()

    def join_groups(self):
        """Soft-RoCE sees what the kernel's IP stack takes in, which is no member of a group that a
        queue pair is attached to. An address makes it one, and must not keep what it sends."""
        for version, group in programs.GROUPS.items():
            self.in_guest(f'/usr/bin/ip addr add {group} dev eth0 autojoin',
                          f'/usr/bin/ip -{version} route del local {group} table local')

    def lose_frames(self):
        """From now on, on the guest's way in and out."""
        tc, ip = '/usr/bin/tc', '/usr/bin/ip'  # busybox has others
        self.in_guest(f'{tc} qdisc add dev eth0 root netem {LOSS}',
                      f'{ip} link set ifb0 mtu 4200 up',  # the module made it
                      f'{tc} qdisc add dev ifb0 root netem {LOSS}',
                      f'{tc} qdisc add dev eth0 clsact',
                      f'{tc} filter add dev eth0 ingress matchall '
                      'action mirred egress redirect dev ifb0')
        self.loses_frames = True

    def excuse(self, failure, server_end, frames):
        """Linux 6.1 can also stop sending for ever when NAKs and responses overtake each other,
        with answers missing and its timer not running: after ours there is nothing from it."""
        text, last = str(failure), last_frame(frames)
        if stalled := STALLED.search(text):
            return stalled[0]
        waits = self.loses_frames and server_end == 'a' and 'client: no completion in' in text
        if waits and last and last[0] == guest.HOST_MAC and last[1] in RC_RESPONSES:
            return 'soft-RoCE has stopped sending'
        return super().excuse(failure, server_end, frames)

    def in_guest(self, *commands):
        status, text = self.guest.run(' && '.join(commands))
        if status != 0:
            raise OSError(f'in the guest: {commands}: {text}')
        return text

    def inside(self, _end, command):
        return self.link.inside(*command)

    def port(self, _end):
        return 'net_af_packet,iface=dut'

    def start(self, end, program, *output):
        if end == 'a':
            path = self.verbcases if program[0] == VERBCASES else program[0]
            return super().start(end, [path, *program[1:]], *output)
        if self.guest is None:
            self.boot()
        words = [GUEST_DEVICE if word == DEVICE else word for word in program]
        return GuestProcess(self.guest, words, self.seconds + 30)

    def listens(self, end, tcp_port):
        if end == 'a':
            return super().listens(end, tcp_port)
        return f':{tcp_port} ' in self.in_guest('netstat -ltn')

    def host(self, server_end):
        return self.addresses[server_end]

    def judge(self, info):
        return self.sniffer.judge(info, FRAMES_MAX, seconds=1200)
