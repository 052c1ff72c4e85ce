#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that the summary counts cases, and believes meson where a program wrote something else;
and that coverage is added up for each room."""
import json
import pathlib
import tempfile
import unittest

import coverage
import summary


def log(name, result):
    return json.dumps({'name': f'uroce:unit / {name}', 'result': result}) + '\n'


class Summary(unittest.TestCase):
    def results(self, testlog, suites=''):
        with tempfile.TemporaryDirectory() as folder:
            logs = pathlib.Path(folder, 'release', 'meson-logs')
            logs.mkdir(parents=True)
            (logs / 'testlog.json').write_text(testlog)
            (logs / 'testlog.junit.xml').write_text(f'<testsuites>{suites}</testsuites>')
            return summary.results_of(logs)

    def test_a_plain_test_counts_as_one(self):
        self.assertEqual([('release: a', 'passed'), ('release: b', 'skipped'),
                          ('release: c', 'failed'), ('release: d', 'failed')],
                         self.results(log('a', 'OK') + log('b', 'SKIP') + log('c', 'TIMEOUT')
                                      + log('d', 'ERROR')))

    def test_a_test_program_counts_by_its_cases(self):
        self.assertEqual([('release: base S.x', 'passed'), ('release: base S.y', 'skipped'),
                          ('release: base S.z', 'failed')],
                         self.results(log('base', 'FAIL'), '''
            <testsuite name="uroce.uroce:unit / base.S"><testcase name="x" classname="S"/>
              <testcase name="y" classname="S"><skipped/></testcase>
              <testcase name="z" classname="S"><failure/></testcase></testsuite>
            <testsuite name="uroce.uroce:unit / other.S">
              <testcase name="x" classname="S"/></testsuite>'''))

    def test_a_program_that_crashed_after_good_cases_failed(self):
        results = self.results(log('base', 'FAIL'), '''<testsuite name="uroce.uroce:unit / base.S">
            <testcase name="x" classname="S"/></testsuite>''')
        self.assertEqual([('release: base S.x', 'passed'), ('release: base', 'failed')], results)

    def test_a_run_that_left_no_log_counts_nothing(self):
        self.assertEqual([], summary.results_of(pathlib.Path('/nonexistent/meson-logs')))


class Coverage(unittest.TestCase):
    def test_a_room_of_the_core_with_too_little_is_named(self):
        files = [{'filename': f'lib/{room}/a.cc', 'line_covered': 95, 'line_total': 100}
                 for room in coverage.WATCHED]
        files.append({'filename': 'lib/nic/a.cc', 'line_covered': 1, 'line_total': 100})
        self.assertEqual([], coverage.lacking(coverage.rooms_of({'files': files})))
        files.append({'filename': 'lib/group/b.cc', 'line_covered': 0, 'line_total': 1})
        self.assertEqual(['group'], coverage.lacking(coverage.rooms_of({'files': files})))
        self.assertEqual(list(coverage.WATCHED), coverage.lacking({}))


if __name__ == '__main__':
    unittest.main()
