#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that every house rule can fail, and that a clean tree passes them all."""
import pathlib
import tempfile
import unittest

import cases
import conformance
import kernel_verbs
import man_pages
import rules
import tree

SPDX = 'SPDX-License-Identifier: BSD-3-Clause\n'
CLEAN = {
    'lib/meson.build': f"# {SPDX}# The rooms, bottom up.\nrooms = [\n  'base',  # words\n"
                       "  'engine',\n  'device',\n  'nic',\n]\n",
    'lib/base/meson.build': f"# {SPDX}# Words without packets.\nroom_sources = files('psn.cc')\n"
                            "room_tests = files('psn_test.cc')\n",
    'lib/engine/meson.build': f"# {SPDX}# The sans-IO face.\nroom_uses = ['base']\n",
    'lib/nic/meson.build': f"# {SPDX}# The DPDK ports.\nroom_uses = ['base', 'device']\n",
    'lib/base/psn.cc': f'// {SPDX}// Serial arithmetic on sequence numbers.\n'
                       '#include "base/psn.h"\nint next(int psn) { return psn + 1; }\n',
    'lib/base/psn.h': f'// {SPDX}// Sequence numbers as a type.\nint next(int psn);\n',
    'lib/base/psn_test.cc': f'// {SPDX}// Tests of sequence numbers.\n'
                            + ''.join(f'// Case {number}.\n' for number in cases.CASES),
    'doc/architecture.md': '`lib/base` `lib/engine` `lib/device` `lib/nic`\n',
}


class HouseRules(unittest.TestCase):
    def setUp(self):
        # The small tree has no exceptions, however many the real one lists.
        rules.SIZES_ENTRIES = rules.UNTESTED_ENTRIES = 0

    def breaches(self, rule, files):
        """What a rule says about the clean tree with these files changed; None removes one."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **files}.items():
                if text is not None:
                    path = pathlib.Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            return rule(tree.Tree(folder))

    def refuses(self, rule, name, text, about=''):
        found = self.breaches(rule, {name: text})
        self.assertEqual(1, len(found), f'{rule.__name__} on {text!r}: {found}')
        self.assertIn(about or name, found[0])

    def core(self, line):
        return f'// {SPDX}// A part of the core.\n{line}\n'

    def test_a_clean_tree_passes_every_rule(self):
        for rule in rules.RULES:
            self.assertEqual([], self.breaches(rule, {}), rule.__name__)

    def test_an_include_that_points_up_is_refused(self):
        rule = rules.includes_point_down
        self.refuses(rule, 'lib/base/psn.h', self.core('#include "engine/engine.h"'))
        self.refuses(rule, 'lib/base/psn.h', self.core('#include "uroce/ib_verbs.h"'))
        self.refuses(rule, 'lib/nic/rx.h', self.core('#include "device/device.h"'))
        self.assertEqual([], self.breaches(
            rule, {'lib/nic/rx.h': self.core('#include "device/port_ops.h"')}))
        self.refuses(rule, 'lib/base/meson.build', "room_uses = ['engine']\n")

    def test_dpdk_outside_its_rooms_is_refused(self):
        line = self.core('#include <rte_mbuf.h>')
        self.refuses(rules.dpdk_stays_at_the_door, 'lib/engine/x.h', line)
        self.refuses(rules.dpdk_stays_at_the_door, 'app/info/x.h', line)
        self.assertEqual([], self.breaches(rules.dpdk_stays_at_the_door, {'lib/nic/x.h': line}))

    def test_clock_randomness_memory_locks_in_the_core_are_refused(self):
        for line in ('auto t = std::chrono::steady_clock::now();', 'int r = rand();',
                     'void f() { p = malloc(3); }', 'auto* p = new Thing;',
                     'std::function<void()> f;', 'virtual void f();', 'std::mutex m;'):
            self.refuses(rules.the_core_is_silent, 'lib/engine/x.h', self.core(line))
        for line in ('// a new thing, by rand() or malloc(3)', 'auto* p = new (place) Thing;',
                     'auto p = std::make_unique<int>(3);  // init',
                     'void init() {  // init\n  p = new Thing;\n}',
                     'Ring::Ring()\n    : slots_{1},\n      p_(new Thing) {}'):
            self.assertEqual([], self.breaches(rules.the_core_is_silent,
                                               {'lib/engine/x.h': self.core(line)}), line)

    def test_a_library_that_throws_prints_or_takes_signals_is_refused(self):
        for line in ('void f() { throw 3; }', 'void f() { printf("x"); }',
                     'void f() { std::puts(""); }', 'void f() { signal(SIGINT, g); }'):
            self.refuses(rules.the_library_is_a_guest, 'lib/engine/x.h', self.core(line))
        self.assertEqual([], self.breaches(rules.the_library_is_a_guest, {
            'lib/engine/x.h': self.core('void f() { std::fprintf(stderr, ""); port.signal(3); }')}))

    def test_a_program_that_looks_inside_is_refused(self):
        self.refuses(rules.programs_use_the_public_headers, 'app/info/main.cc',
                     '#include "base/psn.h"\n')

    def test_a_public_header_that_c_cannot_read_is_refused(self):
        self.refuses(rules.public_headers_are_c, 'include/uroce/x.h', '#include <vector>\n')
        self.refuses(rules.public_headers_are_c, 'include/uroce/x.h', '#include <rte_mbuf.h>\n')

    def test_long_lines_functions_and_files_are_refused(self):
        self.refuses(rules.sizes, 'lib/base/psn.h', 'x' * 101 + '\n', '101 columns')
        self.refuses(rules.sizes, 'lib/base/psn.h', '//\n' * 501, 'psn.h 501')
        body = 'f();\n' * 69
        self.refuses(rules.sizes, 'lib/base/psn.h', f'int* A::f(int a = {{}}) {{\n{body}}}\n',
                     'A::f 71')
        self.refuses(rules.sizes, 'lib/base/x.py', 'def f():\n' + '    f()\n' * 70, 'f 71')
        self.refuses(rules.sizes, 'x.sh', 'f() {\n' + '  f\n' * 69 + '}\n', 'f 71')
        self.assertEqual([], self.breaches(rules.sizes, {'lib/base/psn.h':
            f'class A {{\n  void f() {{\n}}\n{body}\n  void g() {{\n}}\n}};\n'}))

    def test_an_exception_list_that_grows_or_is_out_of_date_is_refused(self):
        found = self.breaches(rules.sizes, {'test/tidy/sizes.txt': 'lib/base/psn.h 501\n'})
        self.assertEqual(2, len(found), found)
        self.assertIn('no longer true', found[0])
        self.assertIn('only shrink', found[1])

    def test_code_without_a_test_is_refused(self):
        self.refuses(rules.each_file_has_its_test, 'lib/base/psn_test.cc', None, 'psn.cc')

    def test_a_file_that_does_not_introduce_itself_is_refused(self):
        rule = rules.files_introduce_themselves
        self.refuses(rule, 'lib/base/psn.h', '// Sequence numbers as a type.\n')
        self.refuses(rule, 'lib/base/psn.h', f'// {SPDX}#pragma once\n')
        self.refuses(rule, 'x.py', f'# {SPDX}import sys\n')

    def test_leftovers_are_refused(self):
        for text in ('// TO' 'DO: later\n', '// FIX' 'ME\n', 'cd /ho' 'me/someone\n'):
            self.refuses(rules.nothing_is_left_over, 'lib/base/psn.h', text)

    def test_the_file_of_the_whole_thing_is_refused(self):
        self.refuses(rules.no_file_is_the_whole, 'lib/engine/qp.cc', '\n')

    def test_a_file_that_nothing_builds_is_refused(self):
        self.refuses(rules.each_file_is_built, 'lib/base/gid.cc', '\n')
        self.refuses(rules.each_file_is_built, 'lib/engine/psn.cc', '\n')
        self.refuses(rules.each_file_is_built, 'test/perf/floor.cc', '\n')
        self.assertEqual([], self.breaches(rules.each_file_is_built, {
            'test/perf/floor.cc': '\n', 'test/perf/meson.build': "foreach a : ['floor']"}))

    def test_a_suite_that_no_run_knows_is_refused(self):
        self.refuses(rules.suites_are_known, 'test/meson.build', "test('a', b, suite: 'slow')\n")

    def test_a_link_to_nowhere_is_refused(self):
        self.refuses(rules.links_lead_somewhere, 'README.md', '[here](doc/nowhere.md)\n')
        self.assertEqual([], self.breaches(rules.links_lead_somewhere,
                                           {'README.md': '[a](doc/architecture.md#rooms)\n'}))

    def test_a_room_without_a_description_is_refused(self):
        self.refuses(rules.rooms_are_described, 'doc/architecture.md', '`lib/base` `lib/engine` '
                     '`lib/nic`', 'lib/device')

    def test_a_name_that_no_page_explains_is_refused(self):
        self.refuses(rules.names_are_documented, 'lib/wire/drop.cc', '{Drop::kIcrc, "icrc", "x"}',
                     '`icrc`')
        self.refuses(rules.names_are_documented, 'lib/config/keys.cc', 'if (key == "mtu")',
                     'configuration.md')
        self.assertEqual([], self.breaches(rules.names_are_documented, {
            'lib/wire/drop.cc': '{Drop::kIcrc, "icrc", "x"}', 'doc/counters.md': '`icrc`'}))

    def test_a_case_without_its_test_is_refused(self):
        rule, tag = cases.each_case_has_its_test, '// Cases {}.\n'
        every = tag.format(', '.join(map(str, cases.CASES)))
        name = 'lib/base/psn_test.cc'
        self.assertEqual([], self.breaches(rule, {name: every}))
        self.assertIn('case 52 has no test', self.breaches(
            rule, {name: every.replace('52, ', '')})[0])
        self.assertIn('there is no case 3', self.breaches(rule, {name: every + tag.format(3)})[0])

    def test_a_page_that_is_not_what_the_tree_says_differs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'lib/base/psn_test.cc')
            path.parent.mkdir(parents=True)
            path.write_text('// IBA C9-105 and case 52.\n')
            text = conformance.page(tree.Tree(folder))
            self.assertIn('| C9-105 |  | `lib/base/psn_test.cc` |', text)
            path.write_text('// Nothing.\n')
            self.assertNotEqual(text, conformance.page(tree.Tree(folder)))

    def test_a_kernel_name_needs_its_header_its_use_and_its_tests(self):
        listed = '[ib_go]\nheader = "ib_go.h"\ntests = "GO-01…GO-02"\n'
        good = {kernel_verbs.LIST: listed, kernel_verbs.FIXTURE: 'X(ib_go)\n',
                'include/uroce/ib_go.h': 'int ib_go(void);\n',
                'lib/base/psn_test.cc': '// GO-01 … GO-02.\n'}

        def rule(whole):
            return kernel_verbs.breaches(whole, kernel_verbs.read_names(whole))
        self.assertEqual([], self.breaches(rule, good))
        for name, text, said in (
                (kernel_verbs.LIST, listed + 'state = "stub"\n', 'no such state'),
                (kernel_verbs.FIXTURE, '', 'does not use ib_go'),
                ('include/uroce/ib_go.h', '// ib_go\n', 'does not declare ib_go'),
                ('lib/base/psn_test.cc', '// GO-01\n', 'tagged GO-02')):
            found = self.breaches(rule, {**good, name: text})
            self.assertEqual(1, len(found), found)
            self.assertIn(said, found[0])

    def test_a_call_needs_its_page_and_the_page_its_prototype(self):
        page = ('.TH ib_go 3 "" uroce "uroce"\n.SH NAME\nib_go \\- goes\n.SH SYNOPSIS\n.nf\n.sp\n'
                '.BI "int ib_go(struct ib_qp *" qp );\n.fi\n' + ''.join(
                    f'.SH "{section}"\nWords.\n' for section in man_pages.SECTIONS[2:]))
        good = {'include/uroce/ib_qp.h': 'int ib_go(struct ib_qp* qp);\n',
                man_pages.BUILD: "'man3/ib_go.3'", man_pages.PAGES + 'ib_go.3': page,
                man_pages.README: 'man -M doc/man ib_go\n'}
        self.assertEqual([], self.breaches(man_pages.breaches, good))
        for name, text, said in (
                ('include/uroce/ib_qp.h', 'int ib_go(struct ib_qp* qp, int how);\n', 'header says'),
                (man_pages.BUILD, '', 'does not install'),
                (man_pages.README, 'man ib_go\n', 'does not show man -M'),
                (man_pages.README, 'man -M doc/man ib_goes\n', 'there is no doc/man/man3/ib_goes'),
                (man_pages.PAGES + 'ib_go.3', page.replace('THREADS', 'BUGS'), 'sections'),
                (man_pages.PAGES + 'ib_go.3', page + '.nosuchrequest\n', 'groff')):
            found = self.breaches(man_pages.breaches, {**good, name: text})
            self.assertEqual(1, len(found), found)
            self.assertIn(said, found[0])
        lost = {**good, man_pages.PAGES + 'ib_go.3': None}
        self.assertIn('no page', self.breaches(man_pages.breaches, lost)[0])
        ours = {**good, 'include/uroce/multicast.h': 'int uroce_go(const char* text);\n'}
        self.assertIn('uroce_go has no page', self.breaches(man_pages.breaches, ours)[0])


if __name__ == '__main__':
    unittest.main()
