#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one fuzz target for UROCE_FUZZ_SECONDS (60) from its corpus; fails when it finds an input.

  fuzz.py TARGET CORPUS          run; what is new is kept beside the target, in TARGET.corpus
  fuzz.py --merge TARGET CORPUS  what TARGET.corpus adds to CORPUS, in as few and small files as
                                 it takes: look at them, then commit them
"""
import os
import pathlib
import re
import subprocess
import sys

INPUT_BYTES_MAX = 4096
# Of the wall clock, for one input. It is there for a loop without end: the slowest input costs less
# than 1 s of a core, but a machine that has more to do than cores may leave it waiting for long.
INPUT_SECONDS_MAX = 120


def run(target, corpus):
    found = pathlib.Path(f'{target}.corpus')
    found.mkdir(exist_ok=True)
    seconds = os.environ.get('UROCE_FUZZ_SECONDS', '60')
    seed = int(os.environ.get('UROCE_SEED', '0')) % 2**32  # 0: the fuzzer picks one and prints it
    folders = [found, corpus] if corpus.is_dir() else [found]
    outcome = subprocess.run(
        [target, f'-max_total_time={seconds}', f'-seed={seed}', f'-max_len={INPUT_BYTES_MAX}',
         f'-timeout={INPUT_SECONDS_MAX}', '-rss_limit_mb=3072', '-print_final_stats=1',
         '-verbosity=1', f'-artifact_prefix={target}.', *folders],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = outcome.stdout.decode(errors='replace')
    executed = re.search(r'number_of_executed_units: (\d+)', text)
    covered = re.findall(r'cov: (\d+)', text)
    if outcome.returncode != 0 or not executed or not covered:
        print(text[-20000:])
        print(f'{target.name} found an input, or did not run: repeat it with the file named above')
        return 1
    print(f'{target.name}: {executed[1]} inputs in {seconds} s, {covered[-1]} edges, clean')
    return 0


def merge(target, corpus):
    corpus.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [target, '-merge=1', f'-max_len={INPUT_BYTES_MAX}', corpus,
         pathlib.Path(f'{target}.corpus')], check=False).returncode


def main():
    arguments = sys.argv[1:]
    act = run
    if arguments and arguments[0] == '--merge':
        act, arguments = merge, arguments[1:]
    return act(*map(pathlib.Path, arguments))


if __name__ == '__main__':
    sys.exit(main())
