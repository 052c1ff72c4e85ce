#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares lib/ibverbs/symbols.txt with a libibverbs.so.1, version node by version node.

  symbols_test.py FOLDER             the distribution's library is in the list, and nothing else
  symbols_test.py FOLDER LIBRARY     ours has all that the list promises, and nothing else

FOLDER is that of symbols.txt and symbols.py.
"""
import os
import re
import subprocess
import sys

SKIPPED = 77
# address, flags, section, size, version (in parentheses: not the default one), symbol
LINE = re.compile(r'[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+(?:(\()?([\w.]+)\)?)?\s+(\S+)$')


def exported(library):
    """{(version node, symbol, is it the default?)}; the nodes' own names are not in it."""
    result = subprocess.run(['objdump', '-T', library], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    matches = [LINE.match(line) for line in result.stdout.splitlines()]
    return {(match[3] or 'no node', match[4], not match[2])
            for match in matches if match and match[1] not in ('*UND*', '*ABS*')}


def installed():
    """The distribution's library, as the linker of programs would find it."""
    lines = subprocess.run(['/sbin/ldconfig', '-p'], capture_output=True, text=True).stdout
    match = re.search(r'libibverbs\.so\.1 \(libc6,x86-64\) => (\S+)', lines)
    return match and os.path.realpath(match[1])


def compare(expected, found, whose):
    for what, symbols in (('lacks', expected - found), ('has, but the list does not,',
                                                        found - expected)):
        for node, symbol, default in sorted(symbols):
            print(f'{whose} {what} {symbol}{"@@" if default else "@"}{node}')
    return 1 if expected != found else 0


def main():
    folder = sys.argv[1]
    sys.path.insert(0, folder)
    import symbols
    rows = symbols.read(f'{folder}/symbols.txt')
    if len(sys.argv) > 2:
        promised = {(node, symbol, True) for node, symbol, kind in rows if kind != 'compat'}
        return compare(promised, exported(sys.argv[2]), 'our library')
    library = installed()
    if library is None:
        print('skipped: libibverbs1 is not installed')
        return SKIPPED
    listed = {(node, symbol, kind != 'compat') for node, symbol, kind in rows}
    return compare(listed, exported(library), library)


if __name__ == '__main__':
    sys.exit(main())
