#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""uroce-run: what it sets, what it becomes, and one clear line for each kind of bad input.

  run_test.py UROCE-RUN LIBRARY
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

RUN, LIBRARY = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
LIBDIR = 'lib/x86_64-linux-gnu'
PORT = ['--port', 'net_null0']


def output(run, *words, **environment):
    given = {name: value for name, value in os.environ.items()
             if not name.startswith(('UROCE_', 'LD_'))}
    return subprocess.run([run, *words], capture_output=True, text=True, timeout=20,
                          env={**given, **environment})


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)

    def refuses(self, status, sentence, *words, run=RUN, **environment):
        done = output(run, *words, **environment)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, '')
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertRegex(done.stderr, '^uroce(-run)?: ')
        self.assertIn(sentence, done.stderr)

    def variables(self, *words, run=RUN, **environment):
        done = output(run, *words, 'env', **environment)
        self.assertEqual(done.stderr, '')
        return dict(line.split('=', 1) for line in done.stdout.splitlines() if '=' in line)


class Becomes(Run):
    def test_the_program_with_all_its_words_and_its_status(self):
        done = output(RUN, *PORT, 'sh', '-c', 'echo "$@"; exit 7', 'name', '--port', '-x')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, '--port -x\n', ''))

    def test_no_process_is_left_in_between(self):
        with subprocess.Popen([RUN, *PORT, 'sh', '-c', 'echo $$'], stdout=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual(int(process.stdout.read()), process.pid)

    def test_a_program_of_rdma_that_sees_the_device(self):
        if shutil.which('ibv_devices') is None:
            self.skipTest('no ibv_devices: apt-get install ibverbs-utils')
        self.assertRegex(output(RUN, *PORT, '--', 'ibv_devices').stdout, r'uroce0\s+[0-9a-f]{16}')

    def test_help(self):
        done = output(RUN, '--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        for word in ('--port', '--profile', 'PROGRAM', 'UROCE_CONFIG', '127'):
            self.assertIn(word, done.stdout)


class Sets(Run):
    def test_the_library_and_its_options_among_what_the_user_has_set(self):
        profile = self.place / 'a profile.toml'
        profile.touch()
        found = self.variables(
            '--port=net_null0,mtu=1500', '--sleep-us', '50', '--limit', 'queue_pairs=64',
            '--profile', os.path.relpath(profile),
            LD_LIBRARY_PATH='/mine', UROCE_OPTIONS='--log-level info')
        self.assertEqual(found['LD_LIBRARY_PATH'], f'{LIBRARY.parent}:/mine')
        self.assertEqual(os.path.realpath(found['UROCE_CONFIG']), os.path.realpath(profile))
        self.assertTrue(os.path.isabs(found['UROCE_CONFIG']))
        self.assertEqual(found['UROCE_OPTIONS'], '--log-level info --port net_null0,mtu=1500 '
                         '--sleep-us 50 --limit queue_pairs=64')

    def test_a_configuration_in_the_environment_is_enough(self):
        profile = self.place / 'one.toml'
        profile.write_text('[[port]]\nname = "net_null0"\n')
        self.assertEqual(self.variables(UROCE_CONFIG=str(profile))['UROCE_CONFIG'], str(profile))
        self.assertEqual(self.variables(UROCE_OPTIONS='--port net_null0')['UROCE_OPTIONS'],
                         '--port net_null0')

    def test_the_library_where_it_is_installed(self):
        for folder in ('bin', f'{LIBDIR}/uroce'):
            (self.place / folder).mkdir(parents=True)
        shutil.copy(RUN, self.place / 'bin')
        folder = self.place / LIBDIR / 'uroce'
        for name in (LIBRARY.name, 'liburoce-redirect.so'):
            (folder / name).symlink_to(LIBRARY.parent / name)
        found = self.variables(*PORT, run=self.place / 'bin' / RUN.name)
        self.assertEqual(found['LD_LIBRARY_PATH'], str(folder))
        self.assertEqual(found['LD_PRELOAD'], str(folder / 'liburoce-redirect.so'))


class Redirects(Run):
    """The paths of RDMA devices, for any program below uroce-run."""
    PORT = '/sys/class/infiniband/uroce1/ports/1'
    TWO = ['--port', 'net_null0', '--port', 'net_af_packet0,iface=lo']

    def text(self, command, *words):
        done = output(RUN, *self.TWO, *words, 'sh', '-c', command, TMPDIR=str(self.place))
        self.assertEqual(done.stderr, '', command)
        return done.stdout

    def left(self):
        """What is left of the folder, once there was time to remove it."""
        limit = time.monotonic() + 10
        while list(self.place.iterdir()) and time.monotonic() < limit:
            time.sleep(0.01)
        return list(self.place.iterdir())

    def test_devices_are_there_as_the_kernels_would_be(self):
        self.assertEqual(self.text('ls /sys/class/infiniband').split(), ['uroce0', 'uroce1'])
        self.assertRegex(self.text('ls -lL /dev/infiniband/uverbs1'), '^crw-rw-rw-')
        self.assertEqual(self.text(f'cat {self.PORT}/link_layer'), 'Ethernet\n')
        self.assertEqual(self.text(f'read type < {self.PORT}/gid_attrs/types/1; echo "$type"'),
                         'RoCE v2\n')
        self.assertEqual(self.text(f'cat {self.PORT}/gid_attrs/ndevs/1'), 'lo\n')
        self.assertEqual(self.text('ls /sys/class/infiniband/uroce1/device/net'), 'lo\n')

    def test_another_program_may_be_started_by_that_one(self):
        self.assertEqual(self.text(f'sh -c "cat {self.PORT}/gid_attrs/types/0; exit"; exit'),
                         'RoCE v2\n')

    def test_what_was_written_goes_with_the_program(self):
        self.text('true')
        self.assertEqual(self.left(), [])

    def test_also_with_one_that_is_killed(self):
        with subprocess.Popen([RUN, *PORT, 'sh', '-c', 'echo; read nothing'],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, 'TMPDIR': str(self.place)}) as process:
            process.stdout.readline()
            self.assertEqual(len(list(self.place.iterdir())), 1)
            process.kill()
        self.assertEqual(self.left(), [])

    def test_the_program_has_no_child_and_no_descriptor_of_it(self):
        command = 'wc -w < /proc/$$/task/$$/children; echo /proc/self/fd/*'
        self.assertEqual(self.text(command), self.text(command, '--no-redirect'))

    def test_none_if_the_user_wants_none(self):
        found = self.variables('--no-redirect', *PORT, LD_PRELOAD='')
        self.assertNotIn('UROCE_TREE', found)
        self.assertEqual(found['LD_PRELOAD'], '')

    def test_what_the_user_preloads_stays(self):
        redirect = LIBRARY.parent / 'liburoce-redirect.so'
        found = self.variables(*PORT, LD_PRELOAD='libc.so.6')
        self.assertEqual(found['LD_PRELOAD'], f'{redirect}:libc.so.6')

    def test_no_place_to_write(self):
        self.refuses(125, 'set TMPDIR', *PORT, 'true', TMPDIR='/nonexistent')


class Refuses(Run):
    def test_words_that_are_not_right(self):
        self.refuses(125, 'name the program', *PORT)
        self.refuses(125, '--port needs a value', '--port')
        self.refuses(125, 'a value has no blanks', '--port', 'net_null0 ,mtu=1500', 'true')

    def test_what_the_library_refuses(self):
        self.refuses(125, 'no port is configured', 'true')
        self.refuses(125, 'unknown option --prot, nearest is --port', '--prot', 'x', 'true')
        self.refuses(125, "there is no network interface 'nope7'", '--port',
                     'net_af_packet,iface=nope7', 'true')
        self.refuses(125, "cannot read the profile '/no/such'", '--profile', '/no/such', 'true')

    def test_a_port_that_nothing_can_make(self):
        self.refuses(125, '--port net_af_packet,iface=eth1', '--port', 'eth1', 'true')
        self.refuses(125, 'number it: net_null1', *PORT, '--port', 'net_null', '--port', 'net_null',
                     'true')

    def test_a_place_whose_name_a_preloaded_library_cannot_have(self):
        for name in ('with blank', 'with:colon'):
            place = self.place / name
            for folder in ('bin', f'{LIBDIR}/uroce'):
                (place / folder).mkdir(parents=True)
            shutil.copy(RUN, place / 'bin')
            (place / LIBDIR / 'uroce' / LIBRARY.name).symlink_to(LIBRARY)
            self.refuses(125, 'move it', *PORT, 'true', run=place / 'bin' / RUN.name)

    def test_a_folder_for_files_that_is_named_at_length(self):
        place = self.place / ('x' * 250)
        place.mkdir()
        self.refuses(125, 'too long): set TMPDIR', *PORT, 'true', TMPDIR=str(place))

    def test_a_place_without_the_library(self):
        lonely = self.place / 'lonely'
        shutil.copy(RUN, lonely)
        self.refuses(125, 'our libibverbs.so.1 is neither in', *PORT, 'true', run=lonely)

    def test_programs_that_cannot_be_run(self):
        self.refuses(127, "cannot run 'no-such-program-7': there is no such program in PATH",
                     *PORT, 'no-such-program-7')
        plain = self.place / 'plain'
        plain.write_text('#!/bin/sh\n')
        self.refuses(126, 'it may not be executed', *PORT, str(plain))
        plain.write_text('#!/no/such/shell\n')
        plain.chmod(0o755)
        self.refuses(126, 'the interpreter that it names is not there', *PORT, str(plain))

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which('ibv_rc_pingpong'),
                     'needs root, whose rights are taken away, and ibverbs-utils')
    def test_a_user_without_the_right_to_raw_sockets(self):
        done = output('setpriv', '--bounding-set', '-all', RUN, '--port', 'net_af_packet,iface=lo',
                      'ibv_rc_pingpong', '-g', '1')
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, '^uroce: error: the RDMA device cannot start: .* setpriv '
                         'with the ambient capabilities net_raw, net_admin and ipc_lock\n')

    @unittest.skipIf(os.geteuid() != 0, 'needs root: a setuid program of another user')
    def test_a_setuid_program(self):
        program = self.place / 'other'
        shutil.copy('/bin/true', program)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        self.refuses(126, 'ignores LD_LIBRARY_PATH', *PORT, str(program))

    def test_a_static_program(self):
        program = self.place / 'static'
        # An ELF header without a segment: enough to be told from a dynamic program.
        program.write_bytes(b'\x7fELF\x02\x01\x01' + bytes(57))
        program.chmod(0o755)
        self.refuses(126, 'is linked statically', *PORT, str(program))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
