#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One of two unmodified programs is killed in the middle of its traffic, over veth and over memif.

  kill_test.py UROCE-RUN

The other one gives up in the time that its queue pair's attributes say, our library names the peer
in one line, the program is told by a completion, and the next two programs connect on the same
ports: over memif by the socket file that the dead one has left.
"""
import re
import sys

import bed
import programs
from talk import Talk

SERVER, CLIENT = ('ib_send_bw', 'server'), ('ib_write_bw', 'client')  # a program, who is killed


class OwnedMemif(bed.Memif):
    """The socket is not that of whoever starts first, but of one end."""

    def port(self, end):
        return f'{super().port(end)},role={"server" if end == self.owner else "client"}'

    def judge_talk(self, talk):
        """It is the victim that has the socket."""
        listed = bed.run(self.inside('a', ['ss', '-Hlxp', 'src', self.socket('a')]))
        if re.findall(r'pid=(\d+)', listed) != [str(talk.processes[talk.victim].pid)]:
            raise bed.Failed(f'it is not the {talk.victim} that has the socket:\n{listed}')

    def next_exchange(self, ports, name):
        """perftest's programs start their devices when they have met, so either one may have it."""
        return programs.perftest(ports, name, self.gids[4])


class MemifOfTheServer(OwnedMemif):
    title, owner = "memif, the server's", 'a'


class MemifOfTheClient(OwnedMemif):
    title, owner = "memif, the client's", 'b'


def go(one, name, victim, ports):
    owned = isinstance(one, OwnedMemif)
    with Talk(one, name, ports(), victim) as talk:
        if owned:
            one.judge_talk(talk)
        elapsed = talk.judge_survivor(talk.kill())
    programs.carry_out(one, one.next_exchange(ports, name) if owned else
                       programs.pingpong(ports, 'rc', one.gids[4], '-c'))
    print(f'ok: {one.title}: {name}, {victim} killed: given up after {elapsed:.2f} s', flush=True)


def main():
    if reason := bed.cannot_run({'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_bw': 'perftest'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    wrong = 0
    for kind, kills in ((bed.Veth, (SERVER, CLIENT)), (bed.Memif, (SERVER, CLIENT)),
                        (MemifOfTheServer, (SERVER,)), (MemifOfTheClient, (CLIENT,))):
        with kind(sys.argv[1]) as one:
            ports = programs.TcpPorts()
            for name, victim in kills:
                try:
                    go(one, name, victim, ports)
                except bed.Failed as failure:
                    print(f'failed: {one.title}: {name}, {victim} killed\n{failure}', flush=True)
                    wrong += 1
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
