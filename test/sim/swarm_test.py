#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A slice of the swarm whose first seed follows from UROCE_SEED, so that each run sees others."""
import os
import subprocess
import sys

simulator, count = sys.argv[1:3]
first = int(os.environ.get('UROCE_SEED', '1')) * 100_000
print(f'uroce-sim --swarm {count} --seed {first}', flush=True)
sys.exit(subprocess.run([simulator, '--swarm', count, '--seed', str(first)]).returncode)
