#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's RDMA programs, unmodified, between two processes over veth and over memif.

  programs_test.py UROCE-RUN UROCE-INFO [SECONDS]

Each bed runs the core of the list, then others drawn by UROCE_SEED until its share of SECONDS
(default 240; 0: all) is over. What went over the wire is judged afterwards.
"""
import os
import random
import sys
import time

import bed
import programs


def look_at_device(one):
    """ibv_devices and ibv_devinfo see one active RoCE port."""
    listed = one.alone(['ibv_devices'])
    programs.wanted(listed, rf'^\s+{programs.DEVICE}\s+[0-9a-f]{{16}}', 'device')
    told = one.alone(['ibv_devinfo', '-v'])
    for pattern in (r'hca_id:\s+uroce0', r'transport:\s+InfiniBand \(0\)', r'state:\s+PORT_ACTIVE',
                    r'link_layer:\s+Ethernet', r'GID\[ +1\]:\s+::ffff:10\.9\.0\.1, RoCE v2',
                    r'GID\[ +2\]:\s+fd00:9::1, RoCE v2'):
        programs.wanted(told, pattern, pattern)


def chosen(exchanges, draw):
    """The core in its order, the rest in a drawn one."""
    core = [exchange for exchange in exchanges if exchange.core]
    rest = [exchange for exchange in exchanges if not exchange.core]
    draw.shuffle(rest)
    return core + rest


def go(one, seconds, draw):
    """How many exchanges went right, and the reports of those that did not."""
    ports = programs.TcpPorts()
    exchanges = programs.pingpongs(ports, one.gids) + programs.perftests(ports, one.gids)
    end, right, wrong = time.monotonic() + seconds, 0, []
    for exchange in chosen(exchanges, draw):
        if seconds and time.monotonic() > end and not exchange.core:
            break
        start = time.monotonic()
        try:
            programs.carry_out(one, exchange)
            right += 1
            print(f'ok: {one.title}: {exchange.title} ({time.monotonic() - start:.1f} s)',
                  flush=True)
        except bed.Failed as failure:
            print(f'failed: {one.title}: {exchange.title}\n{failure}', flush=True)
            wrong.append(f'{one.title}: {str(failure).splitlines()[0]}')
        if len(wrong) > 5:
            break
    return right, wrong


def main():
    uroce_run, info = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 240
    if reason := bed.cannot_run({'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_lat': 'perftest'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    seed = int(os.environ.get('UROCE_SEED', '1'))
    print(f'seed {seed}')
    wrong, beds = [], (bed.Veth, bed.Memif)
    for kind in beds:
        with kind(uroce_run) as one:
            look_at_device(one)
            right, failures = go(one, seconds / len(beds), random.Random(seed))
            wrong += failures
            print(f'{one.title}: {right} exchanges went right; {one.judge(info)}', flush=True)
    for title in wrong:
        print(f'failed: {title}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
