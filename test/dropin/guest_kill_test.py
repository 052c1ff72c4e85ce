#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Linux's soft-RoCE is the peer that is killed in the middle of its traffic with our library: first
a program in the guest, on either side, then the guest itself.

  guest_kill_test.py UROCE-RUN VERBCASES IMAGES

Our side must end as after the kill of any peer. The next two programs connect, also when ours is
there before another guest has booted on the link. IMAGES: the folder where the guest is kept.
"""
import sys
import time

import bed
import guest_bed
import programs
from talk import Talk

# 0.5 s for an ACK: the guest can stand still for longer than seven times 67 ms.
TIMEOUT = 17
BOTH_WAYS = 1 << 20  # bytes on the wire: more than windows hold, so ACKs have come, too
END = {'server': 'b', 'client': 'a'}  # the server's, by who is in the guest


class GuestTalk(Talk):
    """The victim is in the guest, whose programs' words come when they have ended."""

    def __init__(self, one, name, tcp_port, victim):
        super().__init__(one, name, tcp_port, victim, END[victim], TIMEOUT)
        self.captured = one.mark()

    def begin(self, role, *arguments):
        if role == self.survivor:
            super().begin(role, *arguments)
        else:
            self.processes[role] = self.one.start(self.ends[role], [*self.command, *arguments])

    def said(self, role):
        if role == self.survivor:
            return super().said(role)
        return self.processes[role].communicate()[0]

    def is_under_way(self):
        return self.one.mark() > self.captured + BOTH_WAYS

    def kill_guest(self):
        now = time.monotonic()
        self.one.kill_guest()
        del self.processes[self.victim]
        return now


def go(one, name, victim, kill, ports):
    """How long our side went on."""
    with GuestTalk(one, name, ports(), victim) as talk:
        elapsed = talk.judge_survivor(kill(talk))
    if one.guest is None:
        # Our server has its queue pair before another guest boots. UC, since a pingpong's timeout
        # is too short for a guest.
        one.exchange(programs.pingpong(ports, 'uc', one.gids[4], '-c', rounds=50), 'a')
    one.exchange(programs.perftest(ports, name, one.gids[4], f'-u {TIMEOUT}', 2048, 20),
                 END[victim])
    return elapsed


KILLS = {
    'ib_send_bw, server killed': ('ib_send_bw', 'server', GuestTalk.kill),
    'ib_write_bw, client killed': ('ib_write_bw', 'client', GuestTalk.kill),
    'ib_write_bw, guest of the server killed': ('ib_write_bw', 'server', GuestTalk.kill_guest),
}


def main():
    uroce_run, verbcases, images = sys.argv[1:]
    if reason := bed.cannot_run({'ibv_uc_pingpong': 'ibverbs-utils', 'ib_send_bw': 'perftest'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    wrong = 0
    try:
        with guest_bed.GuestBed(uroce_run, images, verbcases) as one:
            ports = programs.TcpPorts()
            for title, (name, victim, kill) in KILLS.items():
                start = time.monotonic()
                try:
                    elapsed = go(one, name, victim, kill, ports)
                    print(f'ok: {one.title}: {title}: given up after {elapsed:.2f} s '
                          f'({time.monotonic() - start:.1f} s)', flush=True)
                except bed.Failed as failure:
                    print(f'failed: {one.title}: {title}\n{failure}', flush=True)
                    wrong += 1
    except guest_bed.guest.image.Unavailable as reason:
        print(f'skipped: {reason}')
        return bed.SKIPPED
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
