#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the ninja targets that the tests of some suites need: suite_targets.py BUILD SUITE..."""
import json
import os
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.run(['meson', 'introspect', build, what], check=True,
                                     capture_output=True, text=True).stdout)


def main():
    build, suites = os.path.abspath(sys.argv[1]), set(sys.argv[2:])
    wanted = {target for test in introspect(build, '--tests') for target in test['depends']
              if suites & {suite.split(':')[-1] for suite in test['suite']}}
    for target in introspect(build, '--targets'):
        if target['id'] in wanted:
            print(*(os.path.relpath(name, build) for name in target['filename']))


if __name__ == '__main__':
    main()
