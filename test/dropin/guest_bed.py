# SPDX-License-Identifier: BSD-3-Clause
"""Where an unmodified program on our library meets one on the soft-RoCE of an emulated Linux."""
import pathlib
import subprocess
import sys
import time

from bed import Bed, Sniffer
from programs import DEVICE, VERBCASES

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peer/rxe'))
import guest  # noqa: E402

GUEST_DEVICE = 'rxe0'
FRAMES_MAX = 5_000_000
LOSS = 'loss 2% delay 3ms reorder 25%'


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
        self.machine.run(f'kill -KILL $(cat {self.name})')

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
    seconds = 150  # for an exchange: the guest's processor is slow, and others may use ours

    def __init__(self, uroce_run, images, verbcases):
        self.images, self.verbcases = images, pathlib.Path(verbcases).resolve()
        self.loses_frames = False
        super().__init__(uroce_run)

    def make(self):
        self.link = guest.Link()
        self.guest = guest.Guest(self.link, self.images, extra=[self.verbcases])
        self.sniffer = Sniffer(lambda command: self.link.inside(*command), 'hub',
                               self.folder / 'hub.pcap', FRAMES_MAX)

    def remove(self):
        for name, end in (('sniffer', 'discard'), ('guest', 'stop'), ('link', 'remove')):
            if hasattr(self, name):
                getattr(getattr(self, name), end)()
        super().remove()

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

    def in_guest(self, *commands):
        status, text = self.guest.run(' && '.join(commands))
        if status != 0:
            raise OSError(f'in the guest: {commands}: {text}')
        return text

    def inside(self, _end, command):
        return self.link.inside(*command)

    def port(self, _end):
        return 'net_af_packet,iface=dut'

    def start(self, end, program):
        if end == 'a':
            path = self.verbcases if program[0] == VERBCASES else program[0]
            return super().start(end, [path, *program[1:]])
        words = [GUEST_DEVICE if word == DEVICE else word for word in program]
        return GuestProcess(self.guest, words, self.seconds + 30)

    def listens(self, end, tcp_port):
        if end == 'a':
            return super().listens(end, tcp_port)
        return f':{tcp_port} ' in self.in_guest('netstat -ltn')

    def host(self, server_end):
        return guest.HOST_IPV4 if server_end == 'a' else guest.GUEST_IPV4

    def judge(self, info):
        return self.sniffer.judge(info, FRAMES_MAX, seconds=1200)
