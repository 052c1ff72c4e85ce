#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one seed in two processes: log and capture must be the same to the byte; another differs."""
import pathlib
import subprocess
import sys
import tempfile


def run(simulator, seed, folder):
    log, pcap = folder / f'{seed}.log', folder / f'{seed}.pcap'
    subprocess.run([simulator, '--seed', str(seed), '--log', log, '--pcap', pcap], check=True)
    return log.read_bytes(), pcap.read_bytes()


def main():
    simulator = sys.argv[1]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        first = run(simulator, 7, pathlib.Path(one))
        again = run(simulator, 7, pathlib.Path(two))
        other = run(simulator, 8, pathlib.Path(two))
    if not all(first) or first != again:
        sys.exit('one seed gave two different runs')
    if first == other:
        sys.exit('two seeds gave the same run')


main()
