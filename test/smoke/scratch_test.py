#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is left of a test, however it ends: no folder, no namespace, no process inside one."""
import os
import pathlib
import select
import signal
import subprocess
import sys
import unittest

from scratch import Scratch

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 30
# Makes a folder and a namespace, whose name it is given, with a process inside that hears of no
# signal to its group; tells both, and waits for a line to end.
TEST = '''
import signal, subprocess, sys
from scratch import Scratch
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored below nohup
one = Scratch()
folder = one.folder('uroce-scratch-')
name = one.namespace(sys.argv[1])
inside = subprocess.Popen(['ip', 'netns', 'exec', name, 'sleep', '600'], start_new_session=True)
print(folder, inside.pid, flush=True)
sys.stdin.readline()
'''


def namespaces():
    listed = subprocess.run(['ip', 'netns', 'list'], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines()]


@unittest.skipIf(os.geteuid() != 0, 'needs root for network namespaces')
class NothingIsLeft(unittest.TestCase):
    def setUp(self):
        self.name = f'uroce-scratch-{os.getpid()}'

    def after(self, end):
        """Of a test that ends by end(its process)."""
        with subprocess.Popen([sys.executable, '-c', TEST, self.name], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=HERE, start_new_session=True) as process:
            folder, pid = process.stdout.readline().split()
            inside = os.pidfd_open(int(pid))
            self.addCleanup(os.close, inside)
            self.assertTrue(pathlib.Path(folder).is_dir())
            self.assertIn(self.name, namespaces())
            end(process)
            self.assertNotEqual(select.select([inside], [], [], SECONDS)[0], [], 'a process')
            process.communicate(timeout=SECONDS)  # until the keeper has ended, too
        self.assertFalse(pathlib.Path(folder).exists())
        self.assertNotIn(self.name, namespaces())

    def test_at_its_end(self):
        self.after(lambda process: print(file=process.stdin, flush=True))

    def test_by_a_signal(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number.name):
                self.after(lambda process, number=number: process.send_signal(number))

    def test_by_a_signal_to_its_group(self):
        self.after(lambda process: os.killpg(process.pid, signal.SIGKILL))

    def test_when_it_says_so(self):
        with Scratch() as one:
            folder = one.folder('uroce-scratch-')
            one.namespace(self.name)
            self.assertTrue(folder.is_dir())
        self.assertFalse(folder.exists())
        self.assertNotIn(self.name, namespaces())

    def test_but_what_is_of_others(self):
        with Scratch() as one, Scratch() as other:
            one.namespace(self.name)
            with self.assertRaises(OSError):
                other.namespace(self.name)
            other.remove()
            self.assertIn(self.name, namespaces())


if __name__ == '__main__':
    unittest.main(verbosity=2)
