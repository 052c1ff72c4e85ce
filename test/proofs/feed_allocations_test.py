#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proof: a stream of ten times the length, losses and recovery included, makes uroce-feed allocate
not once more.

  feed_allocations_test.py UROCE-FEED COUNT-ALLOCATIONS
"""
import os
import subprocess
import sys

FEED, COUNTER = sys.argv[1:3]


def allocations(messages):
    result = subprocess.run(
        [FEED, 'both', '--messages', str(messages), '--rate', '200000', '--inject-loss', '10'],
        env={**os.environ, 'LD_PRELOAD': COUNTER}, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result
    count, what = result.stderr.split()
    assert what == 'allocations' and int(count) > 0, result
    return int(count)


short, long = allocations(5000), allocations(50000)
assert short == long, f'{short} allocations for 5000 messages, {long} for 50000'
print(f'{short} allocations, whatever the length of the stream')
