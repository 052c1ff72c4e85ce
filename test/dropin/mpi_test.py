#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI over UCX over our verbs, over veth and over memif: two ranks, each with a device of its
own, check their data.

  mpi_test.py UROCE-RUN UROCE-INFO MEMIF-TAP COLLECTIVE.C
"""
import functools
import os
import subprocess
import sys
import time

import bed
import programs
from shell import run

SECONDS = 90


class OwnVeth(bed.Veth):
    """Both ends in one namespace, as ranks of one mpirun are. The kernel has no address there: it
    would keep to itself what goes from one to the other."""
    title = 'veth with addresses of our own, net_af_packet'

    def make(self):
        name = self.add_namespace('v')
        self.by_end = {'a': name, 'b': name}
        # net_af_packet makes a fanout group named by process id XOR interface index, which cannot
        # have two interfaces: process ids of ranks are close together, so the indexes are not.
        run(f'ip -n {name} link add va index 10 type veth peer name vb index {10 ^ 0x5555}')
        for end in self.by_end:
            run(f'ip -n {name} link set v{end} addrgenmode none mtu 9000 up')
        self.sniffer = bed.Sniffer(lambda command: self.inside('a', command), 'va',
                                   self.folder / 'veth.pcap')

    def port(self, end):
        return f'net_af_packet,iface=v{end},address=10.9.0.{"ab".index(end) + 1}/24'


def write_rank(one):
    """A script that becomes the program, on the device of its rank."""
    script = one.folder / 'rank'
    script.write_text(f'''#!/bin/sh
case $OMPI_COMM_WORLD_RANK in
  0) port={one.port('a')} ;;
  1) port={one.port('b')} ;;
esac
exec {one.uroce_run} --port $port "$@"
''')
    script.chmod(0o755)
    return script


def go(one, source):
    """What the ranks said when all was right. `source`: collective.c"""
    program = one.folder / 'collective'
    run(['mpicc', '-std=c11', '-O1', '-Wall', '-Wextra', '-Werror', str(source),
         '-o', str(program)])
    command = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-np', '2',
               '--timeout', SECONDS, '--mca', 'pml', 'ucx', '--mca', 'osc', 'ucx',
               '--mca', 'btl', '^openib', '--mca', 'oob_tcp_if_include', 'lo',
               '-x', 'UCX_TLS=rc_verbs,ud_verbs,self',
               '-x', f'UCX_NET_DEVICES={programs.DEVICE}:1', write_rank(one), program]
    try:
        done = subprocess.run(one.inside('a', command), text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, 'TMPDIR': str(one.folder)},
                              timeout=SECONDS + 20, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as failure:
        raise bed.Failed(str(failure)) from None
    if done.returncode != 0:
        raise bed.Failed(f'mpirun returned {done.returncode}\n{done.stdout}')
    return programs.wanted(done.stdout, r'^2 ranks checked \d{8} words$', 'result')[0]


BEDS = (OwnVeth, bed.Memif)


def main():
    uroce_run, info, memif_tap, source = sys.argv[1:]
    if reason := bed.cannot_run({'mpirun': 'openmpi-bin', 'mpicc': 'libopenmpi-dev'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    wrong = 0
    for kind in (*BEDS, functools.partial(bed.TappedMemif, memif_tap=memif_tap)):
        with kind(uroce_run) as one:
            start = time.monotonic()
            try:
                print(f'ok: {one.title}: {go(one, source)} ({time.monotonic() - start:.1f} s)',
                      flush=True)
                print(f'{one.title}: {one.judge(info)}', flush=True)
            except bed.Failed as failure:
                print(f'failed: {one.title}: {failure}', flush=True)
                wrong += 1
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
