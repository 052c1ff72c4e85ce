# SPDX-License-Identifier: BSD-3-Clause
"""A Linux with soft-RoCE in an emulated machine, on a link inside one network namespace:

  guest (198.18.0.2, fd00:c612::2, 02:c6:12:00:00:02)  tap0 -+- br0 (a hub)
  program under test (198.18.0.1, fd00:c612::1)   dut - hub -+

In the guest the device is rxe0; GID index 1 is the IPv4 address, 2 the global IPv6 address. All is
emulated in software: a small exchange takes milliseconds.
"""
import base64
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import time

import image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'smoke'))
from scratch import Scratch  # noqa: E402

HOST_IPV4, HOST_IPV6 = '198.18.0.1', 'fd00:c612::1'
GUEST_IPV4, GUEST_IPV6 = '198.18.0.2', 'fd00:c612::2'
HOST_MAC, GUEST_MAC = '02:c6:12:00:00:01', '02:c6:12:00:00:02'
CHANNELS = 4  # commands at a time
LINK_MTU = 9000
# Frames are what the programs send: nothing is put together, cut or summed up for them on the way.
NIC = ('virtio-net-pci,netdev=n0,romfile=,csum=off,guest_csum=off,gso=off,guest_tso4=off,'
       'guest_tso6=off,guest_ecn=off,guest_ufo=off,host_tso4=off,host_tso6=off,host_ecn=off,'
       f'host_ufo=off,mac={GUEST_MAC}')


class Link:
    """The namespace with the hub, the guest's tap0 and the veth end `dut`. A guest ends with it."""

    def __init__(self, kernel_addresses=True):
        """`kernel_addresses`: `dut` has its addresses in the kernel; else the program has them."""
        self.scratch = Scratch()
        try:
            self.name = self.scratch.namespace(f'uroce-rxe-{os.getpid()}')
            self.make(kernel_addresses)
        except BaseException:
            self.remove()
            raise

    def ip(self, words):
        image.output('ip', '-n', self.name, *words.split())

    def make(self, kernel_addresses):
        image.output(*self.inside('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1',
                                  'net.ipv4.conf.all.arp_ignore=1'))  # br0 answers for itself
        self.ip('link set lo up')
        self.ip('link add br0 type bridge mcast_snooping 0 stp_state 0 forward_delay 0')
        self.ip('link add dut type veth peer name hub')
        self.ip('tuntap add dev tap0 mode tap')
        for device in ('br0', 'dut', 'hub', 'tap0'):
            self.ip(f'link set {device} mtu {LINK_MTU}')
        for device in ('hub', 'tap0'):
            self.ip(f'link set {device} master br0 up')
        self.ip('link set br0 up')
        self.ip(f'link set dut address {HOST_MAC} up')
        image.output(*self.inside('ethtool', '-K', 'dut', 'tx', 'off'))
        if kernel_addresses:
            image.output(*self.inside('sysctl', '-qw', 'net.ipv6.conf.dut.disable_ipv6=0',
                                      'net.ipv6.conf.dut.accept_dad=0'))
            self.ip(f'addr add {HOST_IPV4}/24 dev dut')
            self.ip(f'addr add {HOST_IPV6}/64 dev dut nodad')

    def inside(self, *command):
        return ['ip', 'netns', 'exec', self.name, *map(str, command)]

    def remove(self):
        self.scratch.remove()


class Command:
    """A command that runs in the guest; `output` and `status` are there when done() is true."""

    def __init__(self, channel, text, seconds):
        self.channel, self.text = channel, text
        self.limit = time.monotonic() + seconds + 20  # the guest itself ends it after `seconds`
        self.buffer, self.status, self.output = b'', None, None
        channel.busy = True
        channel.sendall(f'{int(seconds)} {base64.b64encode(text.encode()).decode()}\n'.encode())

    def done(self, wait=0.0):
        while self.status is None and select.select([self.channel], [], [], wait)[0]:
            words = self.channel.recv(65536)
            if not words:
                raise ConnectionError(f'the guest has ended: {self.text}')
            self.buffer += words
            if self.buffer.endswith(b'\n'):
                _, status, *output = self.buffer.decode().split()
                self.status = int(status)
                self.output = base64.b64decode(output[0]).decode() if output else ''
                self.channel.busy = False
        return self.status is not None

    def wait(self):
        """(exit status, output); status 137: it was ended for taking too long."""
        while not self.done(0.2):
            if time.monotonic() > self.limit:
                raise TimeoutError(f'the guest does not answer: {self.text}')
        return self.status, self.output


class Channel(socket.socket):
    busy = False


class Guest:
    """Boots in the constructor. `folder`: where images are kept; `extra`: programs to take along.
    image.Unavailable: not on this machine."""

    def __init__(self, link, folder, mtu=4200, extra=(), seconds=180):
        qemu = shutil.which('qemu-system-x86_64')
        if qemu is None:
            raise image.Unavailable('no qemu-system-x86_64: apt-get install qemu-system-x86')
        kernel, initramfs = image.make(folder)
        self.folder = link.scratch.folder('uroce-rxe-')
        if extra:
            initramfs, base = self.folder / 'initramfs', initramfs
            image.extend(base, extra, initramfs)
        self.console = self.folder / 'console'
        self.channels, self.process = [], None
        try:
            with open(self.console.with_suffix('.qemu'), 'wb') as words:
                self.process = subprocess.Popen(
                    link.inside(qemu, *self.arguments(kernel, initramfs, mtu)),
                    stdin=subprocess.DEVNULL, stdout=words, stderr=words,
                    env=image.plain_environment())
            self.await_boot(time.monotonic() + seconds)
        except BaseException:
            self.stop()
            raise

    def arguments(self, kernel, initramfs, mtu):
        settings = ('console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off '
                    'nokaslr random.trust_cpu=on cryptomgr.notests=1 '
                    f'rxe.ip4={GUEST_IPV4}/24 rxe.ip6={GUEST_IPV6}/64 rxe.mtu={mtu}')
        words = ['-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '1', '-m', '512', '-M', 'pc',
                 '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
                 '-kernel', kernel, '-initrd', initramfs, '-append', settings,
                 '-serial', f'file:{self.console}',
                 '-netdev', 'tap,id=n0,ifname=tap0,script=no,downscript=no', '-device', NIC,
                 '-device', 'virtio-serial-pci']
        for number in range(CHANNELS):
            words += ['-chardev', f'socket,id=c{number},path={self.folder}/{number},server=on,'
                      'wait=off', '-device', f'virtserialport,chardev=c{number},'
                      f'name=command.{number}']
        return words

    def await_boot(self, limit):
        while not (self.console.exists() and b'init: ready' in self.console.read_bytes()):
            if self.process.poll() is not None:
                raise image.Unavailable(
                    f'qemu ended: {self.console.with_suffix(".qemu").read_text().strip()}')
            if time.monotonic() > limit:
                raise TimeoutError(f'the guest does not come up:\n{self.log()[-2000:]}')
            time.sleep(0.1)
        for number in range(CHANNELS):
            channel = Channel(socket.AF_UNIX)
            channel.connect(f'{self.folder}/{number}')
            self.channels.append(channel)
        status, text = self.run('ibv_devinfo -d rxe0', 30)
        if status != 0 or 'PORT_ACTIVE' not in text:
            raise TimeoutError(f'rxe0 is not up:\n{text}\n{self.log()[-2000:]}')

    def log(self):
        return self.console.read_text(errors='replace')

    def start(self, command, seconds=60):
        """Starts a shell command, which is ended after `seconds`; at most CHANNELS at a time."""
        channel = next(channel for channel in self.channels if not channel.busy)
        return Command(channel, command, seconds)

    def run(self, command, seconds=60):
        """(exit status, output)"""
        return self.start(command, seconds).wait()

    def stop(self):
        for channel in self.channels:
            channel.close()
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
