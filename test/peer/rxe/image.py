# SPDX-License-Identifier: BSD-3-Clause
"""The guest's kernel and initramfs, made of the distribution's kernel package and of programs of
this machine: a Linux with soft-RoCE (rdma_rxe), the verbs programs and a command server.

Only the kernel package is downloaded (it is not installed); the result is kept in a folder and
made again when a part of it has changed.
"""
import gzip
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ['ip', 'tc', 'rdma', 'ethtool', 'tcpdump', 'busybox', 'dash']
# Every program of these packages that is installed.
PACKAGES = ['ibverbs-utils', 'perftest', 'rdmacm-utils']
# Opened at run time, so that no program names them.
LIBRARIES = ['libibverbs/librxe-rdmav34.so', 'libgcc_s.so.1']
LIBRARY_FOLDER = pathlib.Path('/usr/lib/x86_64-linux-gnu')
MODULES = ['virtio_pci', 'virtio_net', 'virtio_console', 'crc32_generic', 'crc32c_generic',
           'ib_uverbs', 'ib_umad', 'rdma_ucm', 'rdma_rxe', 'configfs', 'sch_netem', 'sch_ingress',
           'cls_u32', 'cls_matchall', 'act_gact', 'act_mirred', 'ifb']


class Unavailable(Exception):
    """The guest cannot be had on this machine: why, and the cure."""


def output(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=300)
    if result.returncode != 0:
        words = result.stderr or result.stdout
        raise Unavailable(f'{" ".join(map(str, command))}: {words[-500:]}')
    return result.stdout


def plain_environment():
    """Of a program that gets the distribution's libraries, though a test may run on ours."""
    return {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}


def find_program(name):
    path = shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if path is None:
        raise Unavailable(f'no program {name}: install what config/packages.txt lists')
    return pathlib.Path(path)


def kernel_package(folder):
    """The file of the newest kernel that the distribution offers for this release."""
    depends = output('apt-cache', 'depends', 'linux-image-amd64')
    match = re.search(r'Depends: (linux-image-\d\S+)', depends)
    if not match:
        raise Unavailable('no kernel package is known: apt-get update')
    found = sorted(folder.glob(f'{match[1]}_*.deb'))
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(['apt-get', '-o', 'APT::Sandbox::User=root', '-qq', 'download', match[1]],
                       cwd=folder, capture_output=True, timeout=300)
        found = sorted(folder.glob(f'{match[1]}_*.deb'))
    if not found:
        raise Unavailable(f'{match[1]} cannot be downloaded: apt-get update; check the network')
    return found[-1]


def uncompressed(vmlinuz):
    """The kernel inside, which starts sooner under emulation; the image itself if there is none."""
    data = vmlinuz.read_bytes()
    at = data.find(b'\xfd7zXZ\x00')
    while at >= 0:
        try:
            kernel = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data[at:])
            if kernel.startswith(b'\x7fELF'):
                return kernel
        except lzma.LZMAError:
            pass
        at = data.find(b'\xfd7zXZ\x00', at + 1)
    return data


class Archive:
    """An initramfs: cpio's "newc" format."""

    def __init__(self):
        self.parts, self.names = [], set()

    def add(self, name, mode, data=b''):
        name = name.strip('/')
        parent = str(pathlib.PurePosixPath(name).parent)
        if parent != '.' and parent not in self.names:
            self.add(parent, 0o40755)
        if name in self.names:
            return
        self.names.add(name)
        fields = [len(self.parts) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b'070701' + b''.join(b'%08X' % field for field in fields) + name.encode() + b'\0'
        self.parts.append(head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4))

    def add_file(self, name, path, mode=0o100755):
        self.add(name, mode, pathlib.Path(path).read_bytes())

    def compressed(self):
        self.add('TRAILER!!!', 0)
        return gzip.compress(b''.join(self.parts), 1, mtime=0)


def add_programs(archive):
    """Programs in /usr/bin, with the libraries that they and those name."""
    paths = {find_program(name) for name in PROGRAMS}
    for package in PACKAGES:
        files = subprocess.run(['dpkg-query', '-L', package], capture_output=True, text=True)
        paths |= {pathlib.Path(line) for line in files.stdout.split('\n')
                  if line.startswith('/usr/bin/')}
    for path in sorted(paths):
        archive.add_file(f'usr/bin/{path.name}', path.resolve())
    libraries = [LIBRARY_FOLDER / name for name in LIBRARIES]
    for library in libraries:
        archive.add_file(str(library), library.resolve())
    needed = set()
    for path in sorted(paths) + libraries:
        listed = subprocess.run(['ldd', str(path)], capture_output=True, text=True,
                                env=plain_environment()).stdout
        needed |= set(re.findall(r'(?:=> )?(/\S+) \(0x', listed))
    for library in sorted(needed):
        archive.add_file(library, pathlib.Path(library).resolve())


def add_modules(archive, folder):
    """Modules in the order in which they have to be loaded."""
    paths = {path.name.removesuffix('.ko').replace('-', '_'): path for path in folder.rglob('*.ko')}
    order = []

    def add(name):
        path = paths.get(name.replace('-', '_'))
        if path is None or path in order:  # None: built in
            return
        depends = re.search(rb'\0depends=([^\0]*)\0', path.read_bytes())
        for other in depends[1].decode().split(',') if depends else ():
            add(other)
        order.append(path)

    for name in MODULES:
        add(name)
    for path in order:
        archive.add_file(f'modules/{path.name}', path, 0o100644)
    archive.add('modules/order', 0o100644, ''.join(f'{path.name}\n' for path in order).encode())


def extend(initramfs, programs, path):
    """At `path` the same with `programs` in /usr/bin: archives are unpacked one by one."""
    archive = Archive()
    for program in map(pathlib.Path, programs):
        archive.add_file(f'usr/bin/{program.name}', program)
    path.write_bytes(initramfs.read_bytes() + archive.compressed())


def make(folder):
    """(kernel, initramfs) in `folder`."""
    folder = pathlib.Path(folder).resolve()
    package = kernel_package(folder / 'packages')
    parts = [HERE / 'image.py', HERE / 'init']
    stamp = hashlib.sha256(package.name.encode() + b''.join(p.read_bytes() for p in parts))
    kernel, initramfs, mark = (folder / name for name in ('kernel', 'initramfs', 'stamp'))
    if mark.exists() and mark.read_text() == stamp.hexdigest():
        return kernel, initramfs
    unpacked = folder / 'unpacked'
    shutil.rmtree(unpacked, ignore_errors=True)
    output('dpkg-deb', '-x', package, unpacked)
    archive = Archive()
    for name in ('bin', 'sbin', 'dev', 'proc', 'sys', 'tmp', 'run', 'root', 'etc'):
        archive.add(name, 0o40755)
    archive.add('bin/sh', 0o120777, b'/usr/bin/dash')
    archive.add('etc/libibverbs.d/rxe.driver', 0o100644, b'driver rxe\n')
    archive.add_file('init', HERE / 'init')
    add_programs(archive)
    add_modules(archive, unpacked / 'lib/modules')
    kernel.write_bytes(uncompressed(next((unpacked / 'boot').glob('vmlinuz-*'))))
    initramfs.write_bytes(archive.compressed())
    shutil.rmtree(unpacked)
    mark.write_text(stamp.hexdigest())
    return kernel, initramfs
