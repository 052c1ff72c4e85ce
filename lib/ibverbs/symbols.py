#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes of symbols.txt what the drop-in library is linked with.

  symbols.py map SYMBOLS.TXT OUTPUT      the linker's version script
  symbols.py stubs SYMBOLS.TXT OUTPUT    C source of the calls that only refuse, and of data
"""
import pathlib
import sys

STUBS = {
    'int': 'int {}(void);\nint {}(void) {{ return EOPNOTSUPP; }}\n',
    'pointer': 'void* {}(void);\nvoid* {}(void) {{\n  errno = EOPNOTSUPP;\n  return NULL;\n}}\n',
    'void': 'void {}(void);\nvoid {}(void) {{}}\n',
    'data': 'extern bool {};\nbool {};\n',
}
KINDS = ('public', 'compat', *STUBS)


def read(path):
    """[(version node, symbol, kind)]"""
    rows = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        row = tuple(line.split('#')[0].split())
        if row and (len(row) != 3 or row[2] not in KINDS):
            sys.exit(f'{path}:{number}: wanted are node, symbol and one of {", ".join(KINDS)}')
        if row:
            rows.append(row)
    return rows


def version_script(rows):
    """Nodes in the order of the list; nothing but their symbols is seen."""
    nodes = {}
    for node, symbol, kind in rows:
        nodes.setdefault(node, []).extend([symbol] if kind != 'compat' else [])
    text = ''
    for node, symbols in nodes.items():
        text += f'{node} {{\n  global:\n' + ''.join(f'    {symbol};\n' for symbol in symbols)
        text += '};\n'
    return text.replace('};\n', '  local:\n    *;\n};\n', 1)


def stubs(rows):
    head = '#include <errno.h>\n#include <stdbool.h>\n#include <stddef.h>\n'
    return head + ''.join(STUBS[kind].format(symbol, symbol) for _, symbol, kind in rows
                          if kind in STUBS)


def main():
    makers = {'map': version_script, 'stubs': stubs}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[3]).write_text(makers[sys.argv[1]](read(sys.argv[2])))


if __name__ == '__main__':
    main()
