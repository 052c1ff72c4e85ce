#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the manual pages of doc/man against the headers.

  man_pages.py [ROOT]

Every call that the headers of queues, groups and feeds declare has a page; each page has its
sections, shows every name of its first line with the header's prototype, is installed, and is
rendered by groff without a warning. A page "x.3" may lead to another one by ".so man3/y.3": the
pages lie as man looks for them, so that a clone shows them as well. README.md says how, with a page
that is there.
"""
import pathlib
import re
import shlex
import subprocess
import sys

import tree

HEADERS = ('ib_multicast', 'ib_qp', 'ib_cq', 'ib_srq', 'ib_xrc', 'multicast')
ROOT = 'doc/man'
PAGES = f'{ROOT}/man3/'
README = 'README.md'
BUILD = 'doc/man/meson.build'
SECTIONS = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'RETURN VALUE', 'ERRORS', 'THREADS', 'SEE ALSO']


def squeeze(prototype):
    """One spelling of a prototype, wherever blanks stand beside stars and brackets."""
    return re.sub(r'\s*([*(),])\s*', r'\1', ' '.join(prototype.split()))


def declared(whole):
    """{name: prototype} of the calls that are linked; inline functions are not."""
    found = {}
    for header in HEADERS:
        file = whole.by_name.get(f'include/uroce/{header}.h')
        code = '\n'.join(file.code()) if file else ''
        for match in re.finditer(r'^(?!static|typedef)'
                                 r'([\w ]+\*?\s*\b((?:ib|rdma|uroce)_\w+)\([^;{]*\));',
                                 code, re.M):
            found[match[2]] = squeeze(match[1])
    return found


def prototypes(text):
    """{name: prototype} of a page's synopsis; a .sp stands before each."""
    synopsis = text.partition('.SH SYNOPSIS\n')[2].partition('\n.SH')[0]
    found = {}
    for block in re.split(r'^\.sp$', synopsis, flags=re.M)[1:]:
        words = [word for line in block.split('\n') if line.startswith('.BI ')
                 for word in shlex.split(line[len('.BI '):])]
        prototype = squeeze(''.join(words).rstrip(';'))
        name = re.search(r'\b(\w+)\(', prototype)
        found[name[1] if name else '?'] = prototype
    return found


def names_of(text):
    line = text.partition('.SH NAME\n')[2].partition('\n')[0].partition(' \\-')[0]
    return [name.strip() for name in line.split(',')]


def resolve(whole, name):
    """The page of a name, followed once."""
    file = whole.by_name.get(f'{PAGES}{name}.3')
    if file is None:
        return None
    other = re.match(r'\.so man3/(\w+)\.3\n$', file.text)
    return whole.by_name.get(f'{PAGES}{other[1]}.3') if other else file


def page_breaches(file):
    sections = re.findall(r'^\.SH "?([A-Z ]+?)"?$', file.text, re.M)
    found = [] if sections == SECTIONS else [f'{file.name}:1: sections are {sections}']
    if sorted(names_of(file.text)) != sorted(prototypes(file.text)):
        found.append(f'{file.name}:1: NAME and SYNOPSIS have different names')
    warnings = subprocess.run(['groff', '-man', '-ww', '-z', '-Tutf8'], input=file.text, text=True,
                              capture_output=True, check=False).stderr
    return found + [f'{file.name}:1: groff: {line}' for line in warnings.splitlines()]


def readme_breaches(whole):
    file = whole.by_name.get(README)
    shown = re.search(r'\bman -M (\S+) (\w+)', file.text) if file else None
    if shown is None:
        return [f'{README}:1: does not show man -M {ROOT} NAME']
    name = f'{shown[1]}/man3/{shown[2]}.3'
    return [] if name in whole.by_name else [f'{README}:1: there is no {name} for {shown[0]}']


def breaches(whole):
    calls = declared(whole)
    pages = [file for file in whole.files
             if file.name.startswith(PAGES) and file.name.endswith('.3')]
    build = whole.by_name[BUILD].text if BUILD in whole.by_name else ''
    found = []
    for name, prototype in calls.items():
        file = resolve(whole, name)
        if file is None:
            found.append(f'{PAGES}{name}.3: {name} has no page')
        elif prototypes(file.text).get(name) != prototype:
            found.append(f'{file.name}:1: the header says {prototype}')
    for file in pages:
        stem = file.name[len(PAGES):-len('.3')]
        if stem not in calls:
            found.append(f'{file.name}:1: no header declares it')
        if f"'man3/{stem}.3'" not in build:
            found.append(f'{BUILD}:1: does not install {stem}.3')
        if not file.text.startswith('.so '):
            found += page_breaches(file)
    return found + readme_breaches(whole)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    found = breaches(tree.Tree(root if root.is_dir() else root.parents[2]))
    print('\n'.join(found), end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
