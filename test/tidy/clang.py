#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-format or clang-tidy over the tree: everything, a slice of it, or the files given.

  clang.py format|tidy --all          every source file
  clang.py tidy --slice               the files changed since the last tag, and five more that the
                                      number in UROCE_SEED picks
  clang.py format|tidy FILE...
"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLICE_FILES = 5
# Tests run under sanitizers, and their speed is nobody's concern.
TEST_CHECKS = ['--checks=-performance-*,-clang-analyzer-*']


def sources(*suffixes):
    folders = ('lib', 'app', 'test', 'include')
    return sorted(str(path.relative_to(ROOT)) for folder in folders
                  for path in (ROOT / folder).rglob('*') if path.suffix in suffixes)


def built_files(build):
    """The files of the tree that this build compiles: clang-tidy needs their flags."""
    entries = json.loads((build / 'compile_commands.json').read_text())
    found = {os.path.relpath((build / entry['file']).resolve(), ROOT) for entry in entries}
    return sorted(name for name in found if not name.startswith(('..', 'build')))


def changed_since_tag():
    tag = subprocess.run(['git', 'describe', '--tags', '--abbrev=0'], cwd=ROOT,
                         capture_output=True, text=True)
    if tag.returncode != 0:
        return []
    return subprocess.run(['git', 'diff', '--name-only', tag.stdout.strip()], cwd=ROOT,
                          capture_output=True, text=True).stdout.split()


def slice_of(files):
    seed = int(os.environ.get('UROCE_SEED', '0'))
    changed = [name for name in changed_since_tag() if name in files]
    rest = [name for name in files if name not in changed]
    random.Random(seed).shuffle(rest)
    print(f'UROCE_SEED={seed}: {len(changed)} changed since the last tag, {SLICE_FILES} more')
    return changed + rest[:SLICE_FILES]


def run_over(files, command):
    """Runs command + [file] for each file, as many at a time as there are CPUs; failures shown."""
    def one(name):
        lighter = TEST_CHECKS if '_test.' in name or name.startswith('test/') else []
        return name, subprocess.run(command + lighter + [name], cwd=ROOT, capture_output=True,
                                    text=True)

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, result in pool.map(one, files):
            print(('ok   ' if result.returncode == 0 else 'FAIL ') + name, flush=True)
            if result.returncode != 0:
                failures += 1
                print(result.stdout + '\n'.join(
                    line for line in result.stderr.splitlines() if 'warnings' not in line))
    return failures


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ('format', 'tidy'):
        sys.exit(__doc__)
    tool, wanted = sys.argv[1], sys.argv[2:]
    build = pathlib.Path(os.environ.get('UROCE_BUILD', ROOT / 'build' / 'release'))
    if tool == 'format':
        command = ['clang-format-16', '--dry-run', '-Werror']
        files = sources('.cc', '.h', '.c')
    else:
        # The flags are g++'s: clang need not know them all, and means more by -Wconversion.
        command = ['clang-tidy-16', '--quiet', '--extra-arg=-Wno-unknown-warning-option',
                   '--extra-arg=-Wno-sign-conversion', '-p', str(build)]
        files = built_files(build)
    if wanted == ['--slice']:
        files = slice_of(files)
    elif wanted != ['--all']:
        files = [os.path.relpath(pathlib.Path(name).resolve(), ROOT) for name in wanted]
    if tool == 'format':
        failures = subprocess.run(command + files, cwd=ROOT).returncode
    else:
        failures = run_over(files, command)
    print(f'{len(files)} files, ' + ('refused: see above' if failures else 'all good'))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
