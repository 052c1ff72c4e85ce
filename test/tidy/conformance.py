#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes doc/conformance.md out of the tags in the tree and of test/tidy/decisions.md.

  conformance.py [ROOT]          says whether the page is what the tree says
  conformance.py --write [ROOT]  writes it

A tag is the number of a rule: `IBA C9-105` or `IBA 9.7.4.1` for the standard, `TM-12` and its like
for groups of cases of one rule, `case 52` for the cases from the field (cases.py).
"""
import pathlib
import re
import sys

import cases
import tree

PAGE = 'doc/conformance.md'
DECISIONS = 'test/tidy/decisions.md'
IBA = re.compile(r'\bIBA (?:annex )?([CoO]{0,2}A?\d[\w-]*(?:\.\d+)*)')
GROUP = re.compile(r'\b((?:[A-Z]{2}|OPC|PSN|KEY|RNR|ACK)-\d\d)\b')
HEAD = '''# Conformance

What of the InfiniBand architecture specification and its RoCE annex is followed, where, and which
test shows it; what was decided where the standard leaves a choice or stacks differ; what could not
be held against a foreign peer. This page is made by `test/tidy/conformance.py --write` from the
rule numbers in the comments of code and tests; a house test demands that it is up to date. The
text of the standard is not repeated here.

'''


def is_test(file):
    return file.is_test or file.name.startswith('test/')


def tags(whole, pattern):
    """{tag: ([code file], [test file])}, in the tree's order."""
    found = {}
    for file in whole.cxx() + [file for file in whole.files if file.suffix == '.py']:
        if file.name.startswith('test/tidy/'):
            continue
        for line in file.lines:
            for match in pattern.finditer(line):
                places = found.setdefault(match[1].rstrip('.'), ([], []))[is_test(file)]
                if file.name not in places:
                    places.append(file.name)
    return found


def key(tag):
    return [int(part) if part.isdigit() else part for part in re.split(r'(\d+)', tag)]


def names(files):
    return ', '.join(f'`{name}`' for name in sorted(files))


def table(head, rows):
    width = len(head)
    lines = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * width]
    return '\n'.join(lines + ['| ' + ' | '.join(row) + ' |' for row in rows]) + '\n'


def beside(whole, code):
    """The unit tests that stand beside code files."""
    tests = {re.sub(r'\.(cc|h)$', '_test.cc', name) for name in code}
    return sorted(test for test in tests if test in whole.by_name)


def page(whole):
    decisions = whole.by_name[DECISIONS].text if DECISIONS in whole.by_name else ''
    rules = tags(whole, IBA)
    groups = tags(whole, GROUP)
    found = cases.tagged(whole)
    text = HEAD + '## Rules by their number\n\n'
    text += table(('rule', 'code', 'test'), [
        (tag, names(rules[tag][0]), names(set(rules[tag][1]) | set(beside(whole, rules[tag][0]))))
        for tag in sorted(rules, key=key)])
    text += '\n## Groups of cases of one rule\n\n'
    text += table(('group', 'code', 'test'), [
        (tag, names(groups[tag][0]), names(groups[tag][1])) for tag in sorted(groups, key=key)])
    text += '\n## Cases from the field\n\n'
    text += table(('case', 'what holds', 'test'), [
        (str(number), what, names(set(found.get(number, []))) or 'none yet')
        for number, what in cases.CASES.items()])
    return text + '\n' + decisions.partition('-->\n')[2].lstrip()


def main():
    arguments = [word for word in sys.argv[1:] if word != '--write']
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    wanted = page(tree.Tree(root))
    path = root / PAGE
    if '--write' in sys.argv:
        path.write_text(wanted)
        return 0
    if path.exists() and path.read_text() == wanted:
        return 0
    print(f'{PAGE} is not what the tree says: run test/tidy/conformance.py --write')
    return 1


if __name__ == '__main__':
    sys.exit(main())
