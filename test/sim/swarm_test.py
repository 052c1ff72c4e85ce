#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A slice of the swarm whose first seed follows from UROCE_SEED, so that each run sees others."""
import os
import subprocess
import sys

first = int(os.environ.get('UROCE_SEED', '1')) * 1000
print(f'uroce-sim --swarm {sys.argv[2]} --seed {first}', flush=True)
sys.exit(subprocess.run([sys.argv[1], '--swarm', sys.argv[2], '--seed', str(first)]).returncode)
