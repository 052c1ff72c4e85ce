#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs into an empty folder and uses the result as a stranger would: pkg-config, cc, run.

  install_test.py BUILD_DIRECTORY USER.C FOLDER_OF_ITS_HEADERS

Also holds that the library exports only names of ours, and that its headers ask for nothing that
is not installed with it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXPORTS = re.compile(r'^(uroce_|ib_|rdma_|mult_to_ib_rate$|UROCE_)')


def output(command, **environment):
    result = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                            text=True)
    if result.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{result.stdout}{result.stderr}')
    return result.stdout


def one(root, pattern):
    found = [path for path in sorted(root.rglob(pattern)) if path.exists()]
    if not found:
        sys.exit(f'meson install left no {pattern}')
    return found[0]


def check_exports(library):
    names = [line.split()[-1].split('@')[0]
             for line in output(['nm', '-D', '--defined-only', library]).splitlines()]
    strangers = [name for name in names if not EXPORTS.match(name)]
    if strangers or not names:
        sys.exit(f'{library.name} exports {len(names)} names, not ours: {strangers[:10]}')


def main():
    build, user = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    headers = sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, 'root')
        output(['meson', 'install', '-C', build, '--no-rebuild', '--destdir', root])
        library, pc = one(root, 'liburoce.so'), one(root, 'uroce.pc')
        check_exports(library)
        pkg_config = {'PKG_CONFIG_PATH': str(pc.parent), 'PKG_CONFIG_SYSROOT_DIR': str(root)}
        flags = output(['pkg-config', '--cflags', '--libs', 'uroce'], **pkg_config).split()
        version = output(['pkg-config', '--modversion', 'uroce'], **pkg_config).strip()
        program = pathlib.Path(folder, 'user')
        output(['cc', '-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror', user, '-o', program,
                f'-I{headers}',
                f'-DUROCE_WANTED_VERSION="{version}"'] + flags)
        print(output([program], LD_LIBRARY_PATH=str(library.parent)), end='')
        needed = output(['readelf', '-d', program])
        if 'liburoce.so.' not in needed:
            sys.exit('the program is not bound to a version of liburoce.so:\n' + needed)


if __name__ == '__main__':
    main()
