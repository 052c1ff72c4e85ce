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
import time

import bed
import programs

TIMEOUT, RETRIES = 14, 7  # of perftest's queue pairs
ACK_TIMEOUT = 4.096e-6 * 2**TIMEOUT
SLACK = 5  # seconds: two busy programs, and others, on few CPUs
# IBV_WC_RETRY_EXC_ERR of a send, or IBV_WC_WR_FLUSH_ERR of a receive that is polled earlier.
ERROR_COMPLETION = r'^ Failed status (12|5):'
HOSTS = {'server': '10.9.0.1', 'client': '10.9.0.2'}


class Talk:
    """Server and client of one program that would go on for long, its traffic in both directions.
    Their words are in files, line by line, so they can be read while they run."""
    def __init__(self, one, name, tcp_port):
        self.command = [name, '-d', programs.DEVICE, '-x', one.gids[4], '-F', '-p', tcp_port,
                        '-u', TIMEOUT, '-b', '-D', 30, '-s', 2048]
        self.one, self.processes = one, {}
        self.files = {role: one.folder / role for role in HOSTS}

    def __enter__(self):
        try:
            self.connect()
        except bed.Failed as failure:
            self.__exit__()
            said = '\n'.join(f'--- {role}:\n{self.said(role)}' for role in self.processes)
            raise bed.Failed(f'{failure}\n{said}') from None
        return self

    def connect(self):
        tcp_port = self.command[self.command.index('-p') + 1]
        self.begin('server', 'a')
        bed.wait_for('a server that listens', lambda: self.one.listens('a', tcp_port)
                     or self.processes['server'].poll() is not None)
        self.begin('client', 'b', self.one.server_host)
        for role in HOSTS:
            bed.wait_for(f'traffic of the {role}', lambda role=role: '#bytes' in self.said(role))
        time.sleep(0.5)  # both have more under way than one message

    def begin(self, role, end, *arguments):
        with open(self.files[role], 'w', encoding='utf-8') as file:
            self.processes[role] = self.one.start(
                end, ['stdbuf', '-oL', *self.command, *arguments], file)

    def said(self, role):
        return self.files[role].read_text()

    def kill(self, victim):
        now = time.monotonic()
        self.processes[victim].kill()
        return now

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()
            process.wait()


def judge_end(talk, victim, killed):
    """How long after the kill the survivor has given up."""
    survivor = 'client' if victim == 'server' else 'server'
    process = talk.processes[survivor]
    bed.wait_for(f'the {survivor} giving up', lambda: 'gives up' in talk.said(survivor)
                 or process.poll() is not None, ACK_TIMEOUT * (RETRIES + 1) + SLACK)
    elapsed = time.monotonic() - killed
    bed.wait_for(f'the {survivor} ending', lambda: process.poll() is not None, SLACK)
    said = talk.said(survivor)
    programs.wanted(said, ERROR_COMPLETION, 'completion with an error')
    peer = programs.wanted(said, r'remote address: .* QPN 0x([0-9a-f]+)', 'number of the peer')[1]
    lines = re.findall('^uroce: .*', said, re.MULTILINE)
    wanted = (rf'uroce: warning: QP 0x\w+ to {re.escape(HOSTS[victim])} QP 0x0*{peer} gives up.* '
              f'after {RETRIES} retries')
    if len(lines) != 1 or not re.match(wanted, lines[0]):
        raise bed.Failed(f'not one line that matches {wanted}:\n{said}')
    if process.returncode == 0:
        raise bed.Failed(f'the {survivor} returned 0:\n{said}')
    if elapsed < ACK_TIMEOUT * RETRIES:
        raise bed.Failed(f'given up {elapsed:.2f} s after the kill, before {RETRIES} retries of '
                         f'{ACK_TIMEOUT:.3f} s')
    return elapsed


def go(one, name, victim, ports):
    with Talk(one, name, ports()) as talk:
        elapsed = judge_end(talk, victim, talk.kill(victim))
    after = programs.pingpong(ports, 'rc', one.gids[4], '-c')
    said = one.exchange(after.server, after.client, after.tcp_port)
    after.judge(said['client'], said['server'])
    print(f'ok: {one.title}: {name}, {victim} killed: given up after {elapsed:.2f} s', flush=True)


def main():
    if reason := bed.cannot_run({'ibv_rc_pingpong': 'ibverbs-utils', 'ib_send_bw': 'perftest'}):
        print(f'skipped: {reason}')
        return bed.SKIPPED
    wrong = 0
    for kind in (bed.Veth, bed.Memif):
        with kind(sys.argv[1]) as one:
            ports = programs.TcpPorts()
            for name, victim in (('ib_send_bw', 'server'), ('ib_write_bw', 'client')):
                try:
                    go(one, name, victim, ports)
                except bed.Failed as failure:
                    print(f'failed: {one.title}: {name}, {victim} killed\n{failure}', flush=True)
                    wrong += 1
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
