# SPDX-License-Identifier: BSD-3-Clause
"""Two unmodified programs, one of which is killed in the middle of their traffic: how the other one
must end."""
import re
import time

import bed
import programs

RETRIES = 7  # of perftest's queue pairs
SLACK = 5  # seconds: two busy programs, and others, on few CPUs
# IBV_WC_RETRY_EXC_ERR of a send, or IBV_WC_WR_FLUSH_ERR of a receive that is polled earlier.
ERROR_COMPLETION = r'^ Failed status (12|5):'
LINE_BY_LINE = ['stdbuf', '-oL']
OTHER = {'server': 'client', 'client': 'server', 'a': 'b', 'b': 'a'}


class Talk:
    """Server and client of one program that would go on for long, their traffic in both directions,
    until the `victim` is killed. `timeout`: as queue pairs have it, for an ACK. Words of programs
    are in files, line by line, so they can be read while they run."""

    def __init__(self, one, name, tcp_port, victim, server_end='a', timeout=14):
        self.one, self.victim, self.survivor = one, victim, OTHER[victim]
        self.ends = {'server': server_end, 'client': OTHER[server_end]}
        self.tcp_port, self.processes = tcp_port, {}
        self.ack_timeout = 4.096e-6 * 2**timeout  # seconds
        self.command = [name, '-d', programs.DEVICE, '-x', one.gids[4], '-F', '-p', tcp_port,
                        '-u', timeout, '-b', '-D', 30, '-s', 2048]
        self.files = {role: one.folder / role for role in self.ends}

    def __enter__(self):
        try:
            self.connect()
        except bed.Failed as failure:
            self.__exit__()
            said = '\n'.join(f'--- {role}:\n{self.said(role)}' for role in self.processes)
            raise bed.Failed(f'{failure}\n{said}') from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def connect(self):
        self.begin('server')
        bed.wait_for('a server that listens', self.server_listens, self.one.seconds)
        self.begin('client', self.one.host(self.ends['server']))
        bed.wait_for('traffic', lambda: self.is_under_way() or self.one_has_ended(),
                     self.one.seconds)
        if self.one_has_ended():
            raise bed.Failed('a program has ended before one was killed')
        time.sleep(0.5)  # both have more under way than one message

    def begin(self, role, *arguments):
        with open(self.files[role], 'w', encoding='utf-8') as file:
            self.processes[role] = self.one.start(
                self.ends[role], [*LINE_BY_LINE, *self.command, *arguments], file)

    def server_listens(self):
        return self.one.listens(self.ends['server'], self.tcp_port) or self.one_has_ended()

    def one_has_ended(self):
        return any(process.poll() is not None for process in self.processes.values())

    def is_under_way(self):
        return all('#bytes' in self.said(role) for role in self.ends)

    def said(self, role):
        return self.files[role].read_text()

    def kill(self):
        """When that was."""
        now = time.monotonic()
        self.processes[self.victim].kill()
        return now

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()
            process.wait()

    def judge_survivor(self, killed):
        """How long after the kill the survivor has given up."""
        process, limit = self.processes[self.survivor], self.ack_timeout * (RETRIES + 1) + SLACK
        bed.wait_for(f'the {self.survivor} giving up', lambda: process.poll() is not None
                     or 'gives up' in self.said(self.survivor), limit)
        elapsed = time.monotonic() - killed
        bed.wait_for(f'the {self.survivor} ending', lambda: process.poll() is not None, SLACK)
        self.judge_words(self.said(self.survivor))
        if process.returncode == 0:
            raise bed.Failed(f'the {self.survivor} returned 0:\n{self.said(self.survivor)}')
        if elapsed < self.ack_timeout * RETRIES:
            raise bed.Failed(f'given up {elapsed:.2f} s after the kill, before {RETRIES} retries '
                             f'of {self.ack_timeout:.3f} s')
        return elapsed

    def judge_words(self, said):
        """A completion with an error, and one line of ours, which names the peer."""
        programs.wanted(said, ERROR_COMPLETION, 'completion with an error')
        number = programs.wanted(said, r'remote address: .* QPN 0x([0-9a-f]+)',
                                 'number of the peer')[1]
        address = re.escape(self.one.addresses[self.ends[self.victim]])
        wanted = (rf'uroce: warning: QP 0x\w+ to {address} QP 0x0*{number} gives up.* '
                  f'after {RETRIES} retries')
        lines = re.findall('^uroce: .*', said, re.MULTILINE)
        if len(lines) != 1 or not re.match(wanted, lines[0]):
            raise bed.Failed(f'not one line that matches {wanted}:\n{said}')
