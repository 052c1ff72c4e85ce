#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of traffic between two ports of one uroce-testroce, judged by it and by counters."""
import sys

import testroce

TRAFFIC = '''
# RC: 10 messages of two packets each, then WRITE and READ of the peer's memory
create qp 0 rc
create qp 1 rc
connect pair 1 2 0xFFFFFE
post recv 2 10
send 1 5000 10
expect recv 2 10
write 1 60000 3 qp 2
read 1 60000 3 qp 2
# UD, to a queue pair and to a group
create qp 0 ud
create qp 1 ud
activate qp 3 0x1234
activate qp 4 0x1234
post recv 4 20
send 3 64 5 qp 4 0x1234
expect recv 4 5
send 3 64 2 qp 4 0x4321
expect recv 4 0
attach 4 239.1.1.1
show groups 1
show qps 1
send 3 4096 4 group 239.1.1.1 0x1234
expect recv 4 4
detach 4 239.1.1.1
send 3 100 3 group 239.1.1.1 0x1234
expect recv 4 0
attach 4 10.0.0.9@239.1.1.1
send 3 100 3 group 239.1.1.1 0x1234
expect recv 4 0
attach 4 10.0.0.1@00000000000000000000ffffef010101
send 3 100 2 group ::ffff:239.1.1.1 0x1234
expect recv 4 2
show groups 1
detach 4 239.1.1.1
destroy qp 4
show counters 0
show counters 1
show port all
quit
'''


def check(what, seen, wanted):
    for key, value in wanted.items():
        assert seen.get(key, 0) == value, f'{what} {key}: {seen.get(key, 0)}, not {value}\n{seen}'


def traffic_arrives_and_is_counted(program):
    result, _ = testroce.run_file(program, TRAFFIC)
    assert result.returncode == 0, result.stdout + result.stderr
    check('sender', testroce.counters(result.stdout, 0), {
        ('transport', 'rdma_sends'): 10 + 5 + 2 + 4 + 3 + 3 + 2,
        ('transport', 'retransmitted_packets'): 0,
        ('transport', 'req_cqe_error'): 0})
    check('receiver', testroce.counters(result.stdout, 1), {
        ('transport', 'rdma_recvs'): 10 + 5 + 4 + 2,
        ('transport', 'rx_write_requests'): 3,
        ('transport', 'rx_read_requests'): 3,
        ('transport', 'multicast_received'): 4 + 3 + 2,
        ('transport', 'multicast_copies'): 4 + 2,
        ('drop', 'qkey'): 2,
        ('drop', 'group_unknown'): 3,
        ('drop', 'group_source'): 3,
        ('drop', 'icrc'): 0})
    for line in ('239.1.1.1  MAC 01:00:5e:01:01:01  1 members: 0x', '; every source\n',
                 ' (2 sources); by source 10.0.0.1 10.0.0.9\n',
                 'group filter  needs none', 'path MTU      4096 bytes', '10.0.0.2'):
        assert line in result.stdout, f'{line!r} is missing in\n{result.stdout}'


def recovery_is_seen_at_work(program):
    """With faults the same data arrives, and the counters say what it took."""
    commands = TRAFFIC.split('# UD')[0] + 'show counters 0\nshow counters 1\nquit\n'
    result, _ = testroce.run_file(program, commands, own=[
        *testroce.PORTS, '--fault', 'loss=0.05,dup=0.02,corrupt=0.02,seed=7'])
    assert result.returncode == 0, result.stdout + result.stderr
    sender, receiver = (testroce.counters(result.stdout, port) for port in (0, 1))
    assert sender['transport', 'retransmitted_packets'] > 0, sender
    assert receiver['port', 'fault_lost'] > 0, receiver
    check('receiver', receiver, {('transport', 'rdma_recvs'): 10})


def the_first_failure_ends_a_file(program):
    commands = 'create qp 0 ud\n\nactivate qp 1 1\npost recv 1 1\nexpect recv 1 1\nshow port 0\n'
    result, name = testroce.run_file(program, commands)
    assert testroce.refusal(result) == f'{name}:5: qp 1: 1 messages expected, 0 came', result
    assert 'show port' not in result.stdout, result.stdout


def a_pipe_goes_on_after_a_failure(program):
    result = testroce.run(program, text='send 9 1 1\ncreate qp 0 rc\nsend 1 1 1\nhelp\n')
    assert testroce.refusal(result) == '2 commands failed'
    assert 'error: qp 1 is not connected yet' in result.stdout, result
    assert 'error: no queue pair 9' in result.stdout and 'attach ID GROUP' in result.stdout, result


for test in (traffic_arrives_and_is_counted, recovery_is_seen_at_work,
             the_first_failure_ends_a_file, a_pipe_goes_on_after_a_failure):
    test(sys.argv[1])
    print(f'{test.__name__}: ok')
