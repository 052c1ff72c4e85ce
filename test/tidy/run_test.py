#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The script `run`, with meson, ninja and dpkg-query that only say that they were called."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
TOOLS = {
    'dpkg-query': 'shift 3; for package; do echo "installed $package"; done',
    'meson': 'echo "meson $*" >>"$CALLS"\n'
             'if [ "$1" = introspect ]; then\n'
             '  echo "[{\\"name\\": \\"buildtype\\", \\"value\\": \\"$BUILDTYPE\\"}]"\n'
             'else\n  mkdir -p "$2"; touch "$2/build.ninja"\nfi',
    'ninja': 'echo "ninja $*" >>"$CALLS"; target=$2/${*: -1}; mkdir -p "${target%/*}"\n'
             "printf '#!/bin/bash\\necho \"$0 $*\"\\n' >\"$target\"; chmod +x \"$target\"",
}
failures = 0


def expect(what, good, done):
    global failures
    failures += not good
    print('ok' if good else f'NOT OK: {done.stdout}{done.stderr}', what, flush=True)


class Tree:
    """A tree with the script alone."""

    def __init__(self, place):
        self.place = pathlib.Path(place)
        (self.place / 'config').mkdir()
        (self.place / 'tools').mkdir()
        shutil.copy(TREE / 'run', self.place / 'run')
        shutil.copy(TREE / 'config/packages.txt', self.place / 'config/packages.txt')
        for name, text in TOOLS.items():
            tool = self.place / 'tools' / name
            tool.write_text(f'#!/bin/bash\n{text}\n')
            tool.chmod(0o755)
        self.calls = self.place / 'calls'

    def run(self, *arguments, buildtype='release'):
        self.calls.write_text('')
        environment = dict(os.environ, CALLS=str(self.calls), BUILDTYPE=buildtype,
                           PATH=f'{self.place}/tools:{os.environ["PATH"]}')
        return subprocess.run([self.place / 'run', *arguments], env=environment,
                              capture_output=True, text=True)

    def release_by_hand(self):
        folder = self.place / 'build/release'
        folder.mkdir(parents=True)
        (folder / 'build.ninja').touch()
        (folder / 'mine').touch()
        return folder


def main():
    for word, program in (('sim', 'test/sim/uroce-sim'), ('goodput', 'test/sim/uroce-goodput'),
                          ('soak', 'test/soak/uroce-soak')):
        with tempfile.TemporaryDirectory() as place:
            tree = Tree(place)
            done = tree.run(word, '--one', '2')
            built = [line for line in tree.calls.read_text().splitlines() if 'ninja' in line]
            expect(f'run {word} builds its program only',
                   len(built) == 1 and built[0].endswith(f'--quiet {program}'), done)
            expect(f'run {word} passes its arguments on',
                   done.stdout.endswith(f'build/release/{program} --one 2\n'), done)
    with tempfile.TemporaryDirectory() as place:
        tree = Tree(place)
        done = tree.run('pyverbs')
        built = [line for line in tree.calls.read_text().splitlines() if 'ninja' in line]
        expect('run pyverbs builds the library only', len(built) == 1 and
               built[0].endswith('--quiet lib/ibverbs/library/libibverbs.so.1'), done)
    with tempfile.TemporaryDirectory() as place:
        tree = Tree(place)
        folder = tree.release_by_hand()
        done = tree.run('sim', buildtype='debug')
        expect('a build made by hand with other options is left alone, and the cure is said',
               done.returncode == 1 and (folder / 'mine').exists() and
               'build/release was not made by this script' in done.stderr and
               'ninja -C build/release' in done.stderr, done)
        done = tree.run('sim')
        expect('one with the same options is used', done.returncode == 0 and
               (folder / 'mine').exists() and 'meson setup' not in tree.calls.read_text(), done)
    with tempfile.TemporaryDirectory() as place:
        tree = Tree(place)
        tree.run('sim')
        done = tree.run('sim')
        expect('a build of its own is set up once', 'meson' not in tree.calls.read_text(), done)
        (tree.place / 'build/release/run-arguments').write_text('--buildtype=debug\n')
        done = tree.run('sim')
        expect('and anew with other arguments', 'meson setup' in tree.calls.read_text(), done)
    sys.exit(1 if failures else 0)


main()
