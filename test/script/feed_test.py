#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""uroce-feed in one process on memory rings: whole streams, IPv4 and IPv6 groups, losses with and
without recovery, faults on the wire, checks that do not hold, wrong arguments, signals. Two
processes over memif.

  feed_test.py UROCE-FEED
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FEED = sys.argv[1]
PORTS = ['--no-huge', '--no-pci', '--no-shconf', '--no-telemetry', '-m', '256', '-l', '0', '--',
         '--rings', '1', '--port', 'net_ring_u0,address=10.0.0.1/24', '--port',
         'net_ring_u1,address=10.0.0.2/24']
PORTS6 = [*PORTS[:-3], 'net_ring_u0,address=10.0.0.1/24,address=fd00::1/64', '--port',
          'net_ring_u1,address=10.0.0.2/24,address=fd00::2/64']
IPV6 = ['--group-a', 'ff3e::1:1', '--group-b', 'ff3e::1:2', '--control-group', 'ff3e::1:3']
MESSAGES, TRIGGERS = 10000, 1000


def run(*arguments):
    return subprocess.run([FEED, *arguments], capture_output=True, text=True, timeout=60)


def stream(*options):
    result = run('both', '--messages', str(MESSAGES), *options)
    assert result.returncode == 0 and result.stderr == '', result
    assert result.stdout.count('all checks held') == 2, result
    return result.stdout


def numbers(pattern, output):
    found = re.search(pattern, output)
    assert found, f'{pattern} is not in\n{output}'
    return [int(group) for group in found.groups()]


def totals(output):
    return numbers(rf'trader: {MESSAGES} messages: (\d+) delivered, (\d+) recovered, (\d+) lost',
                   output)


def orders(output):
    sent, filled = numbers(r'trader: (\d+) orders, (\d+) fills', output)
    assert numbers(r'(\d+) orders, (\d+) fills, 0 orders refused', output) == [sent, sent], output
    assert filled == sent, output
    for what in ('tick sent to order received', 'tick polled to order posted',
                 'order posted to fill polled'):
        assert re.search(rf'{what}: p50 \d+\.\d+  p99 \d+\.\d+  p99.9 \d+\.\d+  max \d+\.\d+ us, '
                         f'{sent} samples', output), output
    return sent


def sides(output):
    """[(wins, gaps)] of A and B."""
    return [numbers(rf'trader: {side} \S+: .* (\d+) wins, (\d+) gaps', output)
            for side in 'AB']


def a_stream_arrives_whole():
    output = stream('--patience-us', '100000')  # no stall of this machine is a gap
    assert totals(output) == [MESSAGES, 0, 0] and orders(output) == TRIGGERS, output
    (wins_a, gaps_a), (wins_b, gaps_b) = sides(output)
    assert wins_a + wins_b == MESSAGES and gaps_a == gaps_b == 0, output


def what_both_sides_lose_is_recovered():
    output = stream('--inject-loss', '5', '--seed', '3')
    assert min(numbers(r'(\d+) packets of A and (\d+) of B withheld', output)) > 0, output
    delivered, recovered, lost = totals(output)
    assert delivered + recovered == MESSAGES and recovered > 0 and lost == 0, output
    assert orders(output) == TRIGGERS, output
    for wins, gaps in sides(output):
        assert wins > 0 and gaps >= recovered, output


def groups_may_be_ipv6():
    """Without an address of that family but the link-local ones, and with others."""
    for ports, trader in (((), 'trader fe80::'), (('--', *PORTS6), 'trader fd00::2: ')):
        output = stream('--inject-loss', '5', *IPV6, *ports)
        delivered, recovered, lost = totals(output)
        assert delivered + recovered == MESSAGES and recovered > 0 and lost == 0, output
        assert orders(output) == TRIGGERS and trader in output, output
        for wins, gaps in sides(output):
            assert wins > 0 and gaps > 0, output
        assert 'to A ff3e::1:1 and B ff3e::1:2, ' in output, output


def groups_may_be_of_both_families():
    output = stream('--inject-loss', '5', *IPV6[:2], '--', *PORTS6)
    assert sum(totals(output)[:2]) == MESSAGES and 'trader 10.0.0.2: ' in output, output
    for wins, gaps in sides(output):
        assert wins > 0 and gaps > 0, output


def a_feed_may_be_of_one_source():
    """A is heard from the exchange alone; of B nothing is: another source is wanted there."""
    for a, b in (('10.0.0.1@239.1.1.1', '10.0.0.77@239.1.1.2'),
                 ('fd00::1@ff3e::1:1', 'fd00::77@ff3e::1:2')):
        output = stream('--patience-us', '100000', '--group-a', a, '--group-b', b, '--', *PORTS6)
        assert totals(output) == [MESSAGES, 0, 0] and orders(output) == TRIGGERS, output
        (wins_a, gaps_a), (wins_b, gaps_b) = sides(output)
        assert [wins_a, gaps_a, wins_b, gaps_b] == [MESSAGES, 0, 0, MESSAGES], output


def without_recovery_it_is_lost():
    output = stream('--inject-loss', '10', '--no-recovery')
    delivered, recovered, lost = totals(output)
    assert delivered + lost == MESSAGES and recovered == 0 and lost > 0, output
    assert 0 < orders(output) < TRIGGERS, output
    assert numbers(r'trader: (\d+) messages lost on both sides', output) == [lost], output


def each_message_may_be_a_trigger():
    output = stream('--trigger-every', '1', '--batch', '20', '--rate', '1000000')
    assert totals(output) == [MESSAGES, 0, 0] and orders(output) == MESSAGES, output


def a_lossy_wire_is_borne():
    output = stream('--', *PORTS, '--fault', 'loss=0.03,dup=0.02,reorder=0.02,corrupt=0.01,seed=3')
    delivered, recovered, lost = totals(output)
    assert delivered + recovered == MESSAGES and lost == 0, output
    assert orders(output) == TRIGGERS, output


def start_over_memif(role, place, socket, options):
    cpus = sorted(os.sched_getaffinity(0))
    memif = 'server' if role == 'exchange' else 'client'
    return subprocess.Popen(
        [FEED, role, *options, '--', '--no-huge', '--no-pci', '--no-telemetry', '-m', '256',
         '--lcores', f'0@{cpus[place % len(cpus)]}', '--file-prefix', f'feed-{role}-{os.getpid()}',
         f'--vdev=net_memif0,role={memif},socket={socket},socket-abstract=no', '--', '--port',
         f'net_memif0,address=10.0.0.{place + 1}/24,mtu=1500'],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def two_processes_over_memif():
    with tempfile.TemporaryDirectory(prefix='uroce-feed-') as folder:
        socket = pathlib.Path(folder) / 'socket'
        processes = [start_over_memif('exchange', 0, socket,
                                      ['--messages', str(MESSAGES), '--inject-loss', '5'])]
        try:
            processes[0].stdout.readline()  # the server is there
            processes.append(start_over_memif('trader', 1, socket, []))
            outputs = [process.communicate(timeout=60) for process in processes]
        finally:
            for process in processes:
                process.kill()
    assert [process.returncode for process in processes] == [0, 0], outputs
    both = ''.join(output for output, _ in outputs)
    delivered, recovered, lost = totals(both)
    assert delivered + recovered == MESSAGES and recovered > 0 and lost == 0, outputs
    assert orders(both) == TRIGGERS, outputs


def a_check_that_does_not_hold_is_a_failure():
    """A history that is overwritten before anybody can read it: what is lost stays lost."""
    result = run('both', '--messages', str(MESSAGES), '--inject-loss', '10', '--history', '64',
                 '--patience-us', '20000')
    lost = totals(result.stdout)[2]
    assert result.returncode == 1 and lost > 0, result
    assert result.stderr.splitlines() == [
        f'uroce-feed: trader: messages lost in spite of recovery: {lost}, not 0'], result
    assert 'trader: WRONG' in result.stdout, result


def wrong_arguments_are_named():
    table = (
        ((), 'A subcommand is required'),
        (('both', '--frobnicate'), '--frobnicate'),
        (('trader', '--rate', '5', '--', '-l', '0'), '--rate'),
        (('both', '--inject-loss', '95'), '--inject-loss: Value 95 not in range 0'),
        (('both', '--messages', 'many'), '--messages: Value many not in range 1'),
        (('both', '--history', '100'), '--history: 100 is no power of two'),
        (('both', '--history', '0x81'), '--history: 0x81 is no power of two'),
        (('both', '--rate', 'nan'), '--rate: '),
        (('both', '--rate', 'inf'), '--rate: '),
        (('both', '--inject-loss', 'nan'), '--inject-loss: nan is no number'),
        (('both', '--seed', '-1'), '--seed: -1 is negative'),
        (('nonsense',), '"nonsense" is no role: write exchange, trader or both'),
        (('trader', '--inject-loss', '5'), '--inject-loss is an option of exchange, not of trader'),
        (('exchange', '--patience-us=5'), '--patience-us is an option of trader, not of exchange'),
        (('both', '--group-a', '10.0.0.1'), '--group-a: "10.0.0.1" names 10.0.0.1, which is'),
        (('both', '--group-b', 'feed-b'), '--group-b: "feed-b" names no group: write 239.1.1.1, '),
        (('both', '--group-a', '10.0.0.1@ff3e::1'), '--group-a: "10.0.0.1@ff3e::1" mixes IPv4 and'),
        (('exchange', '--group-a', '10.0.0.1@239.1.1.1', '--', '-l', '0'), 'name the group alone'),
        (('both', '--control-group', '10.0.0.1@239.1.1.3'), '--control-group: "10.0.0.1@239.1.1.3'),
        (('both', '--group-b', '239.1.1.1'), '--group-a, --group-b and --control-group must be'),
        (('both', '--traders', '2'), '--traders: in one process there is one'),
        (('exchange',), "EAL's arguments are missing: -- --vdev="),
    )
    for arguments, wanted in table:
        result = run(*arguments)
        lines = result.stderr.splitlines()
        assert result.returncode == 2 and len(lines) == 1 and result.stdout == '', result
        assert lines[0].startswith('uroce-feed: ') and wanted in lines[0], result
        print(f'  {lines[0]}')
    assert stream('--history', '0x1000')
    usage = run('both', '--help')
    assert usage.returncode == 0 and '--inject-loss' in usage.stdout, usage


def who_finds_nobody_says_so():
    for role, wanted in (
            ('exchange', '0 of 1 traders came to 239.1.1.3 within 1 s: start uroce-feed trader'),
            ('trader', 'no exchange answers at 239.1.1.3 within 1 s: start uroce-feed exchange')):
        result = run(role, '--wait', '1', '--', *PORTS)
        assert result.returncode == 1 and len(result.stderr.splitlines()) == 1, result
        assert result.stderr.startswith(f'uroce-feed: {wanted}'), result
    result = run('both', '--', *PORTS[:-2])
    assert result.returncode == 1, result
    assert result.stderr == 'uroce-feed: both needs two ports: name another --port\n', result


def a_signal_ends_it():
    exchange = subprocess.Popen([FEED, 'exchange', '--', *PORTS], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    assert exchange.stdout.readline() == 'exchange: waits for 1 trader at 239.1.1.3\n'
    exchange.terminate()
    rest = exchange.communicate(timeout=60)[1]
    assert exchange.returncode == 1 and rest == 'uroce-feed: interrupted\n', rest


for test in (a_stream_arrives_whole, what_both_sides_lose_is_recovered, groups_may_be_ipv6,
             groups_may_be_of_both_families, a_feed_may_be_of_one_source,
             without_recovery_it_is_lost, each_message_may_be_a_trigger, a_lossy_wire_is_borne,
             two_processes_over_memif, a_check_that_does_not_hold_is_a_failure,
             wrong_arguments_are_named, who_finds_nobody_says_so, a_signal_ends_it):
    test()
    print(f'{test.__name__}: ok', flush=True)
