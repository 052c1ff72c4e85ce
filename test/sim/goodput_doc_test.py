#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/goodput.md is what the program makes: goodput_doc_test.py PROGRAM FILE."""
import difflib
import pathlib
import subprocess
import sys


def main():
    program, kept = sys.argv[1], pathlib.Path(sys.argv[2])
    made = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    there = kept.read_text()
    if made == there:
        return
    sys.stdout.writelines(
        difflib.unified_diff(there.splitlines(True), made.splitlines(True), str(kept), 'now', n=0))
    sys.exit('goodput has changed. If for a reason: ./run goodput > doc/goodput.md')


main()
