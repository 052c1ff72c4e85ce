#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The soft-RoCE guest boots, runs commands, and is reached over the link; skipped without qemu.

  guest_test.py FOLDER                 test; images are kept in FOLDER
  guest_test.py FOLDER COMMAND...      boot, run one command in the guest, end
"""
import os
import pathlib
import subprocess
import sys
import time

import guest
import image

SKIPPED = 77


def check(condition, what):
    if not condition:
        sys.exit(f'failed: {what}')
    print(f'ok: {what}')


def test(link, one):
    status, text = one.run('uname -r; exit 7')
    check(status == 7 and text.startswith('6.'), f'a command has its status and words: {text!r}')
    status, _ = one.run('sleep 100', 1)
    check(status == 137, 'a command that takes too long is ended')
    status, text = one.run('ibv_devinfo -v -d rxe0')
    check(f'::ffff:{guest.GUEST_IPV4}' in text and guest.GUEST_IPV6 in text, 'rxe0 has both GIDs')
    for address in (guest.GUEST_IPV4, guest.GUEST_IPV6):
        ping = subprocess.run(link.inside('ping', '-c', '1', '-W', '10', '-s', '4000', address),
                              capture_output=True, text=True)
        check(' 1 received' in ping.stdout, f'{address} is reached with 4000 bytes')
    server = one.start('ibv_rc_pingpong -d rxe0 -g 1 -n 20', 30)
    time.sleep(0.5)
    status, text = one.run('ibv_rc_pingpong -d rxe0 -g 1 -n 20 127.0.0.1', 30)
    check(status == 0 and server.wait()[0] == 0, f'two programs at a time: {text.splitlines()[-1]}')
    environment = pathlib.Path(f'/proc/{one.process.pid}/environ').read_bytes()
    check(b'LD_LIBRARY_PATH' not in environment, 'the emulator does not get our libraries')
    command = one.start('sleep 100', 100)
    one.process.kill()
    try:
        command.wait()
        check(False, 'a command of a guest that ends does not succeed')
    except ConnectionError as error:
        check(True, f'a guest that ends is told: {error}')


def main():
    if os.geteuid() != 0:
        print('skipped: needs root for a network namespace and a tap')
        return SKIPPED
    link, start = None, time.monotonic()
    try:
        link = guest.Link()
        # As tests of our library have it.
        os.environ['LD_LIBRARY_PATH'] = str(link.scratch.folder('uroce-rxe-'))
        with guest.Guest(link, sys.argv[1]) as one:
            print(f'ok: up after {time.monotonic() - start:.1f} s')
            if len(sys.argv) > 2:
                status, text = one.run(' '.join(sys.argv[2:]))
                print(text, end='')
                return status
            test(link, one)
    except image.Unavailable as reason:
        print(f'skipped: {reason}')
        return SKIPPED
    finally:
        if link is not None:
            link.remove()
    return 0


if __name__ == '__main__':
    sys.exit(main())
