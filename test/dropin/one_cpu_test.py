#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One CPU is enough for two unmodified programs, over veth and over memif.

  one_cpu_test.py UROCE-RUN UROCE-INFO

Both ends are bound to the same CPU, with all threads that they make: whoever waits must let the
other one answer, also where the program spins on a queue or on memory.
"""
import dataclasses
import os
import sys
import time

import bed
import programs

SECONDS = 20  # for an exchange, which takes two or three


def bound(exchange):
    prefix = ['taskset', '-c', min(os.sched_getaffinity(0))]
    return dataclasses.replace(exchange, server=[*prefix, *exchange.server],
                               client=[*prefix, *exchange.client])


def exchanges(ports, gid):
    return [programs.pingpong(ports, 'rc', gid, rounds=500),  # spins on its queue
            programs.pingpong(ports, 'rc', gid, '-e', rounds=500),
            programs.perftest(ports, 'ib_write_lat', gid, rounds=500),  # spins on memory
            programs.perftest(ports, 'ib_send_bw', gid, '-q 4', 1024, rounds=500)]


def go(one):
    """Reports of what went wrong."""
    wrong, one.seconds = [], SECONDS
    for exchange in map(bound, exchanges(programs.TcpPorts(), one.gids[4])):
        start = time.monotonic()
        try:
            programs.carry_out(one, exchange)
            print(f'ok: {one.title}: {exchange.title} ({time.monotonic() - start:.1f} s)',
                  flush=True)
        except bed.Failed as failure:
            print(f'failed: {one.title}: {failure}', flush=True)
            wrong.append(f'{one.title}: {exchange.title}')
    return wrong


def main():
    uroce_run, info = sys.argv[1:]
    if reason := bed.cannot_run({'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_bw': 'perftest'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    return programs.try_beds([lambda: bed.Veth(uroce_run), lambda: bed.Memif(uroce_run)], info, go)


if __name__ == '__main__':
    sys.exit(main())
