# SPDX-License-Identifier: BSD-3-Clause
"""Runs rdma-core's tests in this process, and reports each as it begins and ends.

  pyverbs_inside.py FOLDER REPORT SEED --dev NAME --port N --gid N

FOLDER holds the tests as a package 'tests'. REPORT gets lines [test, outcome, detail], in JSON;
the outcome of a test that begins is 'begun'. What the tests draw comes from SEED.
"""
import json
import pathlib
import random
import sys
import unittest

# It waits for a connection manager, which the device does not have yet.
LEFT_OUT = ('tests.test_rdmacm',)


class Report(unittest.TestResult):
    def __init__(self, file, seed):
        super().__init__()
        self.file, self.seed = file, seed

    def tell(self, test, outcome, detail=''):
        name = test.id().removeprefix('tests.')
        self.file.write(json.dumps([name, outcome, detail]) + '\n')
        self.file.flush()

    def startTest(self, test):
        super().startTest(test)
        self.tell(test, 'begun')
        random.seed(f'{self.seed} {test.id()}')

    def addSuccess(self, test):
        self.tell(test, 'pass')

    def addSkip(self, test, reason):
        self.tell(test, 'skip', reason)

    def addFailure(self, test, err):
        self.tell(test, 'fail', self._exc_info_to_string(err, test))

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addFailure(test, err)

    def addExpectedFailure(self, test, err):
        self.addFailure(test, err)

    def addUnexpectedSuccess(self, test):
        self.tell(test, 'fail', 'it was expected to fail, and did not')


def main():
    folder, report, seed = sys.argv[1:4]
    del sys.argv[1:4]
    # Their modules are named tests.X, and import some of the package's as if they were their own.
    sys.path[:0] = [folder, str(pathlib.Path(folder, 'tests'))]
    from args_parser import parser
    parser.parse_args()
    random.seed(seed)
    import tests
    suite = unittest.TestSuite()
    for module in tests.__test_modules__:
        if module.__name__ not in LEFT_OUT:
            suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
    with open(report, 'w', encoding='utf-8') as file:
        suite.run(Report(file, seed))


main()
