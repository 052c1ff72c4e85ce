#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's RDMA programs, unmodified, between two processes over veth and over memif.

  programs_test.py UROCE-RUN UROCE-INFO MEMIF-TAP [SECONDS]

Each medium runs the core of the list, then others drawn by UROCE_SEED until its share of SECONDS
(default 180; 0: all) is over. Over memif two programs meet directly or with a tap between them, as
it is drawn for each exchange. What went over a wire is judged afterwards.
"""
import collections
import contextlib
import functools
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


def go(beds, seconds, draw):
    """How many exchanges went right by bed, and the reports of those that did not."""
    ports = programs.TcpPorts()
    exchanges = programs.pingpongs(ports, beds[0].gids) + programs.perftests(ports, beds[0].gids)
    end, right, wrong = time.monotonic() + seconds, collections.Counter(), []
    for exchange in chosen(exchanges, draw):
        if seconds and time.monotonic() > end and not exchange.core:
            break
        one = draw.choice(beds)
        start = time.monotonic()
        try:
            programs.carry_out(one, exchange)
            right[one] += 1
            print(f'ok: {one.title}: {exchange.title} ({time.monotonic() - start:.1f} s)',
                  flush=True)
        except bed.Failed as failure:
            print(f'failed: {one.title}: {exchange.title}\n{failure}', flush=True)
            wrong.append(f'{one.title}: {str(failure).splitlines()[0]}')
        if len(wrong) > 5:
            break
    return right, wrong


def main():
    uroce_run, info, memif_tap = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 180
    if reason := bed.cannot_run({'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_lat': 'perftest'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    seed = int(os.environ.get('UROCE_SEED', '1'))
    print(f'seed {seed}')
    tapped_memif = functools.partial(bed.TappedMemif, memif_tap=memif_tap)
    wrong, media = [], ((bed.Veth,), (bed.Memif, tapped_memif))
    for kinds in media:
        with contextlib.ExitStack() as stack:
            beds = [stack.enter_context(kind(uroce_run)) for kind in kinds]
            for one in beds:
                look_at_device(one)
            right, failures = go(beds, seconds / len(media), random.Random(seed))
            wrong += failures
            for one in beds:
                print(f'{one.title}: {right[one]} exchanges went right; {one.judge(info)}',
                      flush=True)
    return programs.tell(wrong)


if __name__ == '__main__':
    sys.exit(main())
