#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rdma-core's own tests, as the distribution ships them, on our device through our library.

  pyverbs_test.py LIBRARY [--write]

They run on a port that delivers to itself, so nothing is needed but the packages and, for three of
them, root: to lend the machine some 2 MiB pages. What comes out is compared with pyverbs.txt;
--write puts new passes into it. UROCE_SEED is where the tests' random choices come from.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pyverbs_ratchet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'smoke'))
from scratch import Scratch  # noqa: E402

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / 'pyverbs.txt'
TESTS = pathlib.Path('/usr/share/doc/rdma-core/tests')
PYTHON = '/usr/bin/python3'  # the distribution's, whose packages these are
PORT = '--port net_null0,address=10.1.1.1/24,address=fd00:1::1/64'
SECONDS = 120
PAGES = pathlib.Path('/sys/kernel/mm/hugepages/hugepages-2048kB')
PAGES_WANTED = 16


def reserve_pages(scratch):
    """Whether there are enough free pages of 2 MiB: those that the machine lets us have for it go
    back with the scratch."""
    total = PAGES / 'nr_hugepages'
    try:
        missing, before = PAGES_WANTED - free_pages(), int(total.read_text())
        if missing > 0:
            scratch.make(f'echo {before + missing} >{total}', f'echo {before} >{total}')
        if free_pages() >= PAGES_WANTED:
            return True
    except OSError as error:
        print(error)
    scratch.remove()  # a few would let the tests begin and fail
    return False


def free_pages():
    return int((PAGES / 'free_hugepages').read_text())


def unpack(folder):
    """The tests as a package, in plain text."""
    folder.mkdir()
    for file in TESTS.iterdir():
        if file.suffix == '.gz':
            (folder / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, folder)


def collect(report):
    """What the tests came to, by name. One that is told twice failed if either says so; one that
    only began is the last."""
    ran = {}
    for line in report.read_text().splitlines() if report.exists() else []:
        test, outcome, detail = json.loads(line)
        if ran.get(test, ('',))[0] != 'fail':
            ran[test] = (outcome, detail)
    return {test: (('fail', 'the tests ended inside it') if outcome == 'begun' else
                   (outcome, detail)) for test, (outcome, detail) in ran.items()}


def run(library, folder, seed):
    """What the tests came to, how their process ended, and what it said."""
    unpack(folder / 'tests')
    report, said = folder / 'report', folder / 'said'
    environment = {**os.environ, 'LD_LIBRARY_PATH': str(library.parent), 'UROCE_OPTIONS': PORT,
                   'PYTHONDONTWRITEBYTECODE': '1', 'PYTHONWARNINGS': 'ignore'}
    environment.pop('UROCE_CONFIG', None)
    command = ['setpriv', '--pdeathsig', 'KILL',  # it ends with us
               PYTHON, HERE / 'pyverbs_inside.py', folder, report, seed,
               '--dev', 'uroce0', '--port', '1', '--gid', '1']
    with open(said, 'w') as file, subprocess.Popen(
            list(map(str, command)), env=environment, cwd=folder, stdin=subprocess.DEVNULL,
            stdout=file, stderr=subprocess.STDOUT) as process:
        try:
            status = process.wait(SECONDS)
            ended = '' if status == 0 else f'their process returned {status}'
        except subprocess.TimeoutExpired:
            ended = f'they had not finished after {SECONDS} s'
        finally:
            process.kill()
    return collect(report), ended, said.read_text(errors='replace')


def what_is_missing():
    if not pathlib.Path(PYTHON).exists() or subprocess.run(
            [PYTHON, '-c', 'import pyverbs'], stderr=subprocess.DEVNULL).returncode != 0:
        return 'no pyverbs: apt-get install python3-pyverbs'
    if not TESTS.is_dir():
        return (f'no {TESTS}, since dpkg leaves documentation out here: apt-get install '
                '--reinstall -o Dpkg::Options::=--path-include=\'/usr/share/doc/rdma-core/*\' '
                'python3-pyverbs')
    return None


def tell(ran, complaints, new, ended, said):
    for test, (outcome, detail) in sorted(ran.items()):
        if outcome == 'fail':
            print(f'--- {test}:\n{detail}')
    if ended or (complaints and said):
        print(f'--- the tests said:\n{said[-4000:]}')
    for line in [ended] * bool(ended) + complaints:
        print(f'failed: {line}')
    for test in new:
        print(f'{test} passes and is not listed: add it: ./run pyverbs --write')
    counts = {outcome: sum(told == outcome for told, _ in ran.values())
              for outcome in ('pass', 'skip', 'fail')}
    print(f'{len(ran)} tests: {counts["pass"]} pass, {counts["skip"]} are skipped, '
          f'{counts["fail"]} fail')


def main():
    library, options = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    if options not in ([], ['--write']):
        sys.exit(f'pyverbs: {" ".join(options)}: the only option is --write')
    missing = what_is_missing()
    if missing:
        print(f'skipped: {missing}')
        return SKIPPED
    seed = os.environ.get('UROCE_SEED', '1')
    print(f'seed {seed}', flush=True)
    with Scratch() as pages, Scratch() as scratch:
        lacking = () if reserve_pages(pages) else ('2 MiB pages',)
        ran, ended, said = run(library, scratch.folder('uroce-pyverbs-'), seed)
    for what in lacking:
        print(f'no {what} to be had here (root can): the tests that need them are skipped')
    listed = pyverbs_ratchet.read(LIST.read_text()) if LIST.exists() else {}
    if options:
        listed, refused = pyverbs_ratchet.updated(listed, ran)
        if not refused and not ended:
            LIST.write_text(pyverbs_ratchet.write(listed))
        for line in refused:
            print(f'not written: {line}')
    complaints, new = pyverbs_ratchet.judge(listed, ran, lacking)
    tell(ran, complaints, new, ended, said)
    return 1 if complaints or ended else 0


if __name__ == '__main__':
    sys.exit(main())
