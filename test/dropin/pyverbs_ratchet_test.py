#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that the ratchet of rdma-core's tests lets nothing slip."""
import unittest

import pyverbs_ratchet as ratchet

LISTED = {'test_qp.A.a': 'pass', 'test_odp.B.b': 'pass', 'test_flow.C.c': 'raw-packet'}
NO_PAGES = 'There are no huge pages of size 2M allocated'
RAN = {'test_qp.A.a': ('pass', ''), 'test_odp.B.b': ('pass', ''),
       'test_flow.C.c': ('skip', 'Create QP type 8 is not supported')}


class Ratchet(unittest.TestCase):
    def setUp(self):
        ratchet.PASSES = 2

    def judge(self, lacking=(), **changes):
        """What is said of a run with some outcomes changed, by module; None: it did not run."""
        ran = dict(RAN)
        for name, outcome in changes.items():
            test = next((test for test in RAN if test.startswith(f'test_{name}.')),
                        f'test_{name}.N.n')
            ran[test] = outcome
            if outcome is None:
                del ran[test]
        return ratchet.judge(LISTED, ran, lacking)

    def refuses(self, words, **changes):
        complaints, _ = self.judge(**changes)
        self.assertEqual(1, len(complaints), complaints)
        self.assertIn(words, complaints[0])

    def test_a_run_as_listed_is_good(self):
        self.assertEqual(([], []), self.judge())

    def test_a_failure_is_told(self):
        self.refuses('failed: AssertionError: 1 != 2',
                     qp=('fail', 'Traceback\n  line\nAssertionError: 1 != 2\n'))
        self.refuses('failed: E', flow=('fail', 'E'))
        self.refuses('failed: E', new=('fail', 'E'))

    def test_a_pass_must_stay_one(self):
        self.refuses('passes by the list, and is skipped: why', qp=('skip', 'why'))
        self.refuses('is listed, and did not run', qp=None)

    def test_a_skip_must_be_listed_and_for_the_reason_that_is(self):
        self.refuses('is skipped, and not listed: QP type 8', new=('skip', 'QP type 8'))
        self.refuses('another reason than raw-packet: no time', flow=('skip', 'no time'))
        self.refuses('is listed, and did not run', flow=None)

    def test_what_the_machine_lacks_is_told_by_the_caller_alone(self):
        skip = ('skip', NO_PAGES)
        self.assertEqual(([], []), self.judge(lacking=('2 MiB pages',), odp=skip))
        self.refuses('passes by the list', odp=skip)
        self.refuses('passes by the list', lacking=('2 MiB pages',), odp=('skip', 'no ODP'))

    def test_new_passes_are_told(self):
        complaints, new = self.judge(new=('pass', ''), flow=('pass', ''))
        self.assertEqual(([], ['test_flow.C.c', 'test_new.N.n']), (complaints, new))

    def test_the_list_does_not_become_shorter(self):
        ratchet.PASSES = 3
        self.refuses('the list has 2 passes, and had 3')

    def test_the_list_is_made_of_what_came_out_but_takes_no_pass_back(self):
        ran = {**RAN, 'test_new.N.n': ('pass', ''), 'test_flow.C.c': ('pass', ''),
               'test_efadv.E.e': ('skip', 'not an EFA device'), 'test_odp.B.b': ('skip', NO_PAGES)}
        listed, refused = ratchet.updated(LISTED, ran)
        self.assertEqual([], refused)
        self.assertEqual({**LISTED, 'test_flow.C.c': 'pass', 'test_new.N.n': 'pass',
                          'test_efadv.E.e': 'vendor'}, listed)
        self.assertEqual(listed, ratchet.read(ratchet.write(listed)))
        for outcome in (('skip', 'x'), ('fail', 'x')):
            self.assertEqual(1, len(ratchet.updated(LISTED, {'test_qp.A.a': outcome})[1]))
            self.assertEqual(1, len(ratchet.updated(LISTED, {'test_new.N.n': outcome})[1]))

    def test_every_reason_is_told_from_the_others(self):
        for test, detail, reason in (
                ('test_mlx5_cq.D.d', 'QP type 8 is not supported', 'vendor'),
                ('test_qp.Q.q', 'Create Raw Packet QP with attrs is not supported', 'raw-packet'),
                ('test_tag_matching.T.t', 'Extended CQ is not supported', 'tag-matching'),
                ('test_mr.M.m', 'not supported by /dev/dri/renderD128', 'gpu'),
                ('test_shared_pd.S.s', 'Importing a device is not supported', 'import')):
            self.assertEqual(({test: reason}, []),
                             ratchet.updated({}, {test: ('skip', detail)}))
        self.assertEqual(1, len(ratchet.updated({}, {
            'test_cqex.C.c': ('skip', 'Extended CQ is not supported')})[1]))


if __name__ == '__main__':
    unittest.main()
