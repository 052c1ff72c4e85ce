#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes doc/kernel-verbs.md out of test/tidy/kernel_verbs.toml and of the tags in the tests.

  kernel_verbs.py [ROOT]          says what is missing, and whether the page is what the tree says
  kernel_verbs.py --write [ROOT]  writes it

Every name of the list is declared in its header and used in the fixture that the link tests share;
every number of a test stands in a comment (or a table) of a test.
"""
import pathlib
import re
import sys
import tomllib

import tree

LIST = 'test/tidy/kernel_verbs.toml'
PAGE = 'doc/kernel-verbs.md'
FIXTURE = 'lib/verbs/kernel_names_fixture.h'
STATES = ('real', 'constant', 'refused')
NUMBER = re.compile(r'\b([A-Z][A-Z0-9])-(\d\d)(?: ?… ?(?:\1-)?(\d\d))?')
HEAD = '''# The kernel's names

The project began with one manual page, `ib_detach_mcast(9)`, and the 97 names of the kernel's verbs
that it belongs with. Each is in `include/uroce/ib_verbs.h`, with the kernel's signature and results
(negative errno, `ERR_PTR`), callable from C11 and C++20. A name is *real* when it does something
here, *constant* when its answer follows from what uroce is, and *refused* when it cannot exist in a
process; none of them succeeds without doing what it says. The numbers are those of our tests.
This page is made by `test/tidy/kernel_verbs.py --write`; a house test demands that it is up to
date, that each number has its test, and that each name is declared. `test/install` links all of
them against the installed library.

'''


def numbers(text):
    """['MC-01', …] of a list such as 'MC-01…MC-03, KY-02', in order."""
    return [f'{match[1]}-{number:02d}' for match in NUMBER.finditer(text)
            for number in range(int(match[2]), int(match[3] or match[2]) + 1)]


def tagged(whole):
    """{number: [test file]}, from comments and from strings that are nothing but a number."""
    found = {}
    for file in whole.cxx():
        if not (file.is_test or file.name.startswith('test/')):
            continue
        for line in file.lines:
            comment = re.search(r'//(.*)', line)
            text = (comment[1] if comment else '') + ' '.join(re.findall(r'"(\w\w-\d\d)"', line))
            for number in numbers(text):
                if file.name not in found.setdefault(number, []):
                    found[number].append(file.name)
    return found


def breaches(whole, names):
    found = []
    tests = tagged(whole)
    fixture = whole.by_name[FIXTURE].text if FIXTURE in whole.by_name else ''
    for name, entry in names.items():
        file = whole.by_name.get('include/uroce/' + entry['header'])
        word = re.compile(rf'\b{re.escape(name)}\b')
        if file is None or not word.search('\n'.join(file.code()) + defines(file)):
            found.append(f'include/uroce/{entry["header"]}:1: does not declare {name}')
        if not word.search(fixture):
            found.append(f'{FIXTURE}:1: does not use {name}')
        if entry.get('state', 'real') not in STATES:
            found.append(f'{LIST}:1: {name}: no such state: {entry["state"]}')
        found += [f'{LIST}:1: {name}: no test is tagged {number}'
                  for number in numbers(entry['tests']) if number not in tests]
        if not numbers(entry['tests']):
            found.append(f'{LIST}:1: {name}: no number of a test')
    return found


def defines(file):
    """Macros, which code() leaves out."""
    return '\n'.join(line for line in file.lines if line.startswith('#define'))


def page(whole, names):
    tests = tagged(whole)
    rows = ['| name | header | state | note | tests | where |', '|---|---|---|---|---|---|']
    for name, entry in names.items():
        places = sorted({file for number in numbers(entry['tests'])
                         for file in tests.get(number, [])})
        rows.append(' | '.join((
            f'| `{name}`', f'`{entry["header"]}`', entry.get('state', 'real'),
            entry.get('note', ''), entry['tests'],
            ', '.join(f'`{place}`' for place in places) + ' |')))
    return HEAD + '\n'.join(rows) + '\n'


def read_names(whole):
    return tomllib.loads(whole.by_name[LIST].text)


def main():
    arguments = [word for word in sys.argv[1:] if word != '--write']
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    whole = tree.Tree(root)
    names = read_names(whole)
    found = breaches(whole, names)
    wanted = page(whole, names)
    path = root / PAGE
    if '--write' in sys.argv:
        path.write_text(wanted)
    elif not path.exists() or path.read_text() != wanted:
        found.append(f'{PAGE} is not what the tree says: run test/tidy/kernel_verbs.py --write')
    print('\n'.join(found), end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
