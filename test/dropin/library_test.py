#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The drop-in library as a file and as a guest: what it needs, and what loading it does.

  library_test.py LIBRARY
"""
import ctypes
import os
import re
import subprocess
import sys
import unittest

LIBRARY = os.path.abspath(sys.argv.pop(1))
ENVIRONMENT = {**os.environ, 'LD_LIBRARY_PATH': os.path.dirname(LIBRARY),
               'UROCE_OPTIONS': '--port net_null0'}

# As a plugin does that was linked to it: its device is used, and it goes with the plugin.
UNLOADS = f'''
import ctypes, _ctypes
for _ in range(3):
    library = ctypes.CDLL({LIBRARY!r}, mode=ctypes.RTLD_LOCAL)
    for name in ("ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd"):
        getattr(library, name).restype = ctypes.c_void_p
    library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    device = library.ibv_get_device_list(None)[0]
    context = library.ibv_open_device(ctypes.c_void_p(device))
    assert library.ibv_alloc_pd(ctypes.c_void_p(context))
    _ctypes.dlclose(library._handle)
print("Nothing is left of a plugin but its threads.")
'''


def output(*command):
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    return result.returncode, result.stdout + result.stderr


def threads():
    return len(os.listdir('/proc/self/task'))


class File(unittest.TestCase):
    def setUp(self):
        self.dynamic = output('readelf', '-dW', LIBRARY)[1]

    def test_has_the_name_that_programs_ask_for(self):
        self.assertIn('Library soname: [libibverbs.so.1]', self.dynamic)

    def test_brings_no_shared_dpdk_and_no_other_verbs_along(self):
        loaded = output('ldd', LIBRARY)[1]
        self.assertNotIn('librte_', loaded)
        self.assertNotIn('libmlx', loaded)
        self.assertNotIn('not found', loaded)
        self.assertNotIn('libibverbs.so.1 =>', loaded)

    def test_can_be_loaded_at_any_time(self):
        self.assertIn('BIND_NOW', self.dynamic)  # what is missing shows at once
        self.assertNotIn('STATIC_TLS', self.dynamic)  # the room for that may be used up


class Guest(unittest.TestCase):
    def test_loading_and_listing_start_nothing(self):
        os.environ['UROCE_OPTIONS'] = ENVIRONMENT['UROCE_OPTIONS']
        before = (threads(), os.sched_getaffinity(0), sorted(os.listdir('/proc/self/fd')))
        library = ctypes.CDLL(LIBRARY)
        library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
        library.ibv_get_device_name.restype = ctypes.c_char_p
        library.ibv_get_device_name.argtypes = [ctypes.c_void_p]
        library.ibv_free_device_list.argtypes = [ctypes.c_void_p]
        count = ctypes.c_int(0)
        devices = library.ibv_get_device_list(ctypes.byref(count))
        self.assertEqual(count.value, 1)
        self.assertEqual(library.ibv_get_device_name(devices[0]), b'uroce0')
        library.ibv_free_device_list(devices)
        self.assertEqual(
            before, (threads(), os.sched_getaffinity(0), sorted(os.listdir('/proc/self/fd'))))

    def test_a_plugin_may_unload_it_and_load_it_again(self):
        status, text = output(sys.executable, '-c', UNLOADS)
        self.assertEqual((status, text), (0, 'Nothing is left of a plugin but its threads.\n'))

    def test_every_program_of_the_distribution_starts_on_it(self):
        programs = []
        for package in ('ibverbs-utils', 'perftest'):
            listed = subprocess.run(['dpkg-query', '-L', package], capture_output=True, text=True)
            programs += re.findall(r'^/usr/bin/\S+', listed.stdout, re.MULTILINE)
        if not programs:
            self.skipTest('neither ibverbs-utils nor perftest is installed')
        for program in programs:
            with self.subTest(program=program):
                _, linked = output('ldd', '-r', program)  # -r: every symbol is looked up
                if 'libibverbs.so.1' not in linked:
                    continue  # a script
                self.assertIn(LIBRARY, linked)
                self.assertNotRegex(linked, r'undefined symbol|version .* not found')

    def test_programs_list_the_device(self):
        status, text = output('ibv_devices')
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r'uroce0\s+[0-9a-f]{16}')


if __name__ == '__main__':
    print(f'{os.path.getsize(LIBRARY) / (1 << 20):.1f} MiB')
    unittest.main(verbosity=2)
