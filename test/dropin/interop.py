#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified programs on our library against themselves, on it and on Linux's soft-RoCE (rxe).

Runs every exchange of both tables, or a part of them; against rxe with uroce as server and as
client. Prints a line for each. What failed is kept: what both programs said, and the frames.
"""
import argparse
import os
import pathlib
import random
import sys

import bed
import guest_bed
import interop_matrix
import interop_table
import mpi_test
import programs
from interop_runner import Runner
from scratch import Scratch

sys.path.insert(0, str(pathlib.Path(guest_bed.guest.__file__).parent))
import image  # noqa: E402

PACKAGES = {'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_lat': 'perftest',
            'ucx_perftest': 'ucx-utils', 'mpirun': 'openmpi-bin', 'mpicc': 'libopenmpi-dev'}
OWN, RXE = 'uroce', 'rxe'
OWN_BEDS = {'veth': bed.Veth, 'memif': bed.Memif}
RXE_ROLES = [('a', 'uroce is server', 'a'), ('b', 'uroce is client', 'b')]


def verbcases_names(path):
    return bed.run([path, '-l']).split()


class Run:
    """What was asked for, and what has come out of it."""

    def __init__(self, options, folder):
        self.options, self.results = options, {}
        self.own = interop_matrix.own_rows(folder)
        self.mpi = interop_matrix.Row('mpirun -np 2: ring, allreduce, accumulate', None)
        self.rxe = interop_matrix.rows(verbcases_names(options.verbcases))
        table = options.table
        self.old = table.read_text() if table and table.exists() else ''
        self.kernel = interop_table.kernel(self.old)
        self.runner = Runner(options.keep, self.results, self.save)

    def save(self):
        if self.options.table:
            tables = [interop_table.Table(interop_table.OWN, tuple(OWN_BEDS),
                                          [*self.own, self.mpi]),
                      interop_table.Table(interop_table.RXE.format(kernel=self.kernel),
                                          ('a', 'b'), self.rxe)]
            self.options.table.write_text(interop_table.page(tables, self.results, self.old))

    def wanted(self, rows):
        chosen = [row for row in rows if all(word in row.title for word in self.options.only)]
        if self.options.seconds:
            random.Random(self.options.seed).shuffle(chosen)
        return chosen

    def judge(self, one):
        print(f'{one.title}: {one.judge(self.options.info)}', flush=True)

    def among_ourselves(self):
        rows, share = self.wanted(self.own), self.options.seconds / len(OWN_BEDS)
        for column, kind in OWN_BEDS.items():
            if rows:
                with kind(self.options.uroce_run) as one:
                    self.runner.go(one, rows, [(column, one.title, 'a')], share)
                    self.judge(one)
        if self.wanted([self.mpi]):
            self.ranks()

    def ranks(self):
        source = pathlib.Path(__file__).with_name('collective.c')
        for column, kind in zip(OWN_BEDS, mpi_test.BEDS):
            with kind(self.options.uroce_run) as one:
                self.runner.fill((self.mpi, column), one.title,
                                 lambda one=one: mpi_test.go(one, source))
                self.judge(one)

    def against_rxe(self):
        rows, share = self.wanted(self.rxe), self.options.seconds / 2
        if not rows:
            return
        with guest_bed.GuestBed(self.options.uroce_run, self.options.images,
                                self.options.verbcases) as one:
            self.kernel = one.guest.run('uname -r')[1].strip()
            self.runner.go(one, [row for row in rows if not row.lossy], RXE_ROLES, share)
            if any(row.lossy for row in rows):
                one.lose_frames()
                self.runner.go(one, [row for row in rows if row.lossy], RXE_ROLES, share)
            self.judge(one)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('uroce_run', help='of the build to try')
    parser.add_argument('info', help='uroce-info')
    parser.add_argument('verbcases', help='our own program')
    parser.add_argument('images', help='the folder where the guest is kept')
    parser.add_argument('--peer', choices=(OWN, RXE), help='one of the tables alone')
    parser.add_argument('--only', nargs='+', default=[], metavar='WORD',
                        help='rows whose title has all of them')
    parser.add_argument('--seconds', type=float, default=0, metavar='N',
                        help='a drawn part of each table, in about that time')
    parser.add_argument('--seed', type=int, default=int(os.environ.get('UROCE_SEED', '1')))
    parser.add_argument('--keep', default='interop-failures', metavar='FOLDER',
                        help='where failed exchanges are kept')
    parser.add_argument('--table', type=pathlib.Path, metavar='FILE',
                        help='the page whose rows are written')
    return parser.parse_args()


def run(options):
    skipped = 0
    with Scratch() as scratch:
        this = Run(options, scratch.folder('uroce-interop-'))
        if options.peer != RXE:
            this.among_ourselves()
        try:
            if options.peer != OWN:
                this.against_rxe()
        except image.Unavailable as reason:
            print(f'skipped: what needs the guest: {reason}')
            skipped = bed.SKIPPED
    if not this.results and not skipped:
        print(f'no row has all of: {" ".join(options.only)}; the rows are in doc/interop.md')
        return 2
    wrong = [row.title for (row, _), (right, _) in this.results.items() if not right]
    print(f'{len(this.results)} exchanges, {len(wrong)} failed')
    return programs.tell(wrong) or skipped


def main():
    options = arguments()
    if reason := bed.cannot_run(PACKAGES):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    if options.seconds:
        print(f'seed {options.seed}')
    return run(options)


if __name__ == '__main__':
    sys.exit(main())
