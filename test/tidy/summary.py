#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up the results of several meson test runs; its last line is the count of the whole run.

A GoogleTest program or a TAP script counts by its cases, any other test as one. testlog.json says
which tests ran and how each ended; testlog.junit.xml only adds the cases inside, so a program that
crashes half-way is a failure whatever it had written before.
"""
import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree


def cases_of(junit, test):
    """[(case name, outcome)] of the suites that belong to one meson test."""
    found = []
    for suite in junit.iter('testsuite'):
        name = suite.get('name', '')
        if name != f'uroce.{test}' and not name.startswith(f'uroce.{test}.'):
            continue
        for case in suite.iter('testcase'):
            outcome = 'passed'
            if case.find('failure') is not None or case.find('error') is not None:
                outcome = 'failed'
            elif case.find('skipped') is not None:
                outcome = 'skipped'
            label = case.get('name', '')
            if case.get('classname') and case.get('classname') != f'uroce.{test}':
                label = case.get('classname') + '.' + label
            found.append((label, outcome))
    return found


def results_of(directory):
    """[(name, outcome)] of one run, from the meson-logs folder of its build."""
    log = directory / 'testlog.json'
    if not log.exists():
        return []
    junit = xml.etree.ElementTree.parse(directory / 'testlog.junit.xml')
    build = directory.parent.name
    results = []
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        test = entry['name'].split(' / ')[-1]
        plain = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}
        outcome = plain.get(entry['result'], 'failed')
        cases = cases_of(junit, entry['name'])
        if not cases or (outcome == 'failed' and all(c[1] != 'failed' for c in cases)):
            cases.append(('', outcome))
        results += [(f'{build}: {test} {case}'.rstrip(), how) for case, how in cases]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--broken', action='append', default=[], help='a build that failed')
    parser.add_argument('directories', nargs='*', type=pathlib.Path, help='meson-logs folders')
    arguments = parser.parse_args()
    results = [(name, 'failed') for name in arguments.broken]
    for directory in arguments.directories:
        results += results_of(directory)
    count = {'passed': 0, 'failed': 0, 'skipped': 0}
    for name, outcome in results:
        count[outcome] += 1
        if outcome != 'passed':
            print(f'{outcome}: {name}')
    if not count['passed']:
        count['failed'] = max(1, count['failed'])  # a run in which nothing passed proves nothing
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count['failed'] else 0


if __name__ == '__main__':
    sys.exit(main())
