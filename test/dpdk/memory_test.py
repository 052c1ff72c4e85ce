#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The -m that a refusal names is enough for the port that was refused, and not far too much."""
import re
import subprocess
import sys


def probe(megabytes, frames):
    command = [sys.argv[1], '--no-huge', '--no-pci', '--no-shconf', '--no-telemetry', '-l', '0',
               '--log-level=1', '-m', str(megabytes), '--', str(frames)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def named(result):
    """The port that was refused and the -m that would do."""
    last = result.stderr.strip().splitlines()[-1]
    match = re.fullmatch(r'port (\S+): no memory .* give EAL -m (\d+)', last)
    assert match, f'unexpected refusal: {result.stderr!r}'
    return match.group(1), int(match.group(2))


for frames in (64, 3000, 20000):
    megabytes, refused = 8, []
    while (result := probe(megabytes, frames)).returncode != 0:
        assert result.returncode == 1, result
        port, more = named(result)
        # What was named for a port is enough for it: each is refused once at most.
        assert port not in refused and more > megabytes, (port, refused, megabytes, more)
        refused.append(port)
        megabytes = more
    assert refused[-1] == 'net_ring_u1' and 'opened' in result.stdout, (refused, result)
    # And it is near the truth: a tenth less does not do.
    assert probe(megabytes * 9 // 10, frames).returncode == 1, megabytes
    print(f'{frames} frames held: -m {megabytes} opens both ports')
