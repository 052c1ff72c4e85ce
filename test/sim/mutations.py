#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks one rule of the product at a time and shows which checker of the simulator notices.

Works on a copy of the tree below BUILD, compiled without optimisation; only what an edit touches is
compiled again. Prints a table, and exits with 1 if a broken rule was noticed by nobody. With
--table the table is written to a file as well: test/sim/mutations/RESULT.md is made that way.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

TREE = pathlib.Path(__file__).resolve().parents[2]
LIST = TREE / 'test/sim/mutations/list.toml'
PARTS = ('app', 'config', 'doc', 'include', 'lib', 'test', 'meson.build', 'meson_options.txt',
         'LICENSE')
TARGET = 'test/sim/uroce-sim'


class Copy:
    """A copy of the tree and its build; files that did not change keep their time."""

    def __init__(self, place):
        self.tree = place / 'tree'
        self.build = self.tree / 'build'
        for part in PARTS:
            self.refresh(TREE / part, self.tree / part)
        if not (self.build / 'build.ninja').exists():
            subprocess.run(['meson', 'setup', self.build, self.tree, '-Doptimization=0',
                            '-Ddebug=false'], check=True, stdout=subprocess.DEVNULL)

    def refresh(self, source, target):
        if source.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            for name in {p.name for p in target.iterdir()} - {p.name for p in source.iterdir()}:
                gone = target / name
                shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
            for child in source.iterdir():
                self.refresh(child, target / child.name)
        elif source.exists() and (not target.exists()
                                  or target.read_bytes() != source.read_bytes()):
            shutil.copy(source, target)

    def compile(self):
        """None, or what the compiler said."""
        done = subprocess.run(['ninja', '-C', self.build, TARGET], capture_output=True, text=True)
        return None if done.returncode == 0 else done.stdout[-2000:]

    def swarm(self, count, seed):
        """(seed, checker) of the first complaint, or None."""
        command = [self.build / TARGET, '--swarm', str(count), '--seed', str(seed), '--shrink', '0']
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return 'some', 'time: the swarm does not end'
        if done.returncode == 0:
            return None
        said = re.search(r'^seed (\d+): ([^:;]+)', done.stdout, re.M)
        return (said[1], said[2]) if said else ('some', 'unknown')


def break_rule(text, mutation):
    if text.count(mutation['find']) != 1:
        sys.exit(f'{mutation["name"]}: what is to be found stands {text.count(mutation["find"])} '
                 f'times in {mutation["file"]}: mend test/sim/mutations/list.toml')
    return text.replace(mutation['find'], mutation['replace'])


def write_table(path, rows):
    lines = ['# Broken rules, and who notices', '',
             'Made by `test/sim/mutations.py --table test/sim/mutations/RESULT.md`: each rule of',
             '`list.toml` is broken by itself, and seeds are run from 1 on until a checker',
             'complains.', '',
             '| broken rule | checker | seed |', '|---|---|---|']
    lines += [f'| {name} | {checker} | {seed} |' for name, checker, seed in rows]
    path.write_text('\n'.join(lines) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', type=pathlib.Path, default=TREE / 'build/mutations')
    parser.add_argument('--swarm', type=int, default=2000, help='seeds for each (default 2000)')
    parser.add_argument('--seed', type=int, default=1, help='the first one (default 1)')
    parser.add_argument('--only', default='', help='those whose name contains this')
    parser.add_argument('--table', type=pathlib.Path, help='write the table to this file, too')
    parser.add_argument('--check', action='store_true', help='only whether every edit applies')
    options = parser.parse_args()
    mutations = tomllib.loads(LIST.read_text())['mutation']
    for mutation in mutations:
        break_rule((TREE / mutation['file']).read_text(), mutation)
    if options.check:
        print(f'{len(mutations)} mutations apply')
        return 0
    chosen = [mutation for mutation in mutations if options.only in mutation['name']]
    if not chosen:
        sys.exit(f'no broken rule has "{options.only}" in its name: the names are in {LIST}')
    print(f'compiling the tree without optimisation below {options.build}: minutes the first time; '
          f'then {len(chosen)} broken rules, {options.swarm} seeds at most for each', flush=True)
    copy = Copy(options.build)
    if (error := copy.compile()) is not None:
        sys.exit(f'the tree does not compile:\n{error}')
    if (complaint := copy.swarm(options.swarm, options.seed)) is not None:
        sys.exit(f'the tree as it is: seed {complaint[0]}: {complaint[1]}')
    survivors = 0
    rows = []
    print(f'{"broken rule":62} {"noticed by":16} seed', flush=True)
    for mutation in chosen:
        file = copy.tree / mutation['file']
        right = file.read_text()
        file.write_text(break_rule(right, mutation))
        error = copy.compile()
        noticed = ('-', 'DOES NOT COMPILE') if error else copy.swarm(options.swarm, options.seed)
        file.write_text(right)
        if error or noticed is None:
            survivors += 1
        seed, checker = noticed or ('-', 'NOBODY')
        print(f'{mutation["name"]:62} {checker:16} {seed}', flush=True)
        rows.append((mutation['name'], checker, seed))
        if error:
            print(error)
    if options.table is not None:
        write_table(options.table, rows)
    print(f'{survivors} unnoticed')
    return 1 if survivors else 0


if __name__ == '__main__':
    sys.exit(main())
