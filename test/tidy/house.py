#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the house rules over the whole tree and reports in TAP, one line a rule."""
import pathlib
import sys

import rules
import tree


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    whole = tree.Tree(root if root.is_dir() else root.parents[2])
    print(f'1..{len(rules.RULES)}')
    failed = 0
    for number, rule in enumerate(rules.RULES, 1):
        breaches = rule(whole)
        failed += bool(breaches)
        for breach in breaches:
            print(f'# {breach}')
        print(('not ' if breaches else '') + f"ok {number} - {rule.__name__.replace('_', ' ')}")
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
