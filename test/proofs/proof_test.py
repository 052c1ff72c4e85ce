#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a proof and the same proof broken on purpose: proof_test.py PROGRAM MODE BROKEN-STATUS"""
import subprocess
import sys

program, mode, broken_status = sys.argv[1], sys.argv[2], int(sys.argv[3])
for arguments, wanted in ([mode], 0), ([mode, '--break'], broken_status):
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100)
    if result.returncode != wanted:
        sys.exit(f'{" ".join(arguments)}: status {result.returncode}, not {wanted}\n'
                 f'{result.stdout}{result.stderr}')
    print(f'{" ".join(arguments)}: status {wanted}, as it must be')
