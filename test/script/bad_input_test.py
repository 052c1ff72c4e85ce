#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bad input of every kind: one clear line of ours, last on stderr, and a non-zero exit."""
import os
import pathlib
import subprocess
import sys
import tempfile

import testroce

EAL = testroce.EAL
PORTS = testroce.PORTS


def own(*options):
    return {'own': [*PORTS, *options]}


with tempfile.NamedTemporaryFile('w', suffix='.toml') as profile, \
        tempfile.NamedTemporaryFile('w', suffix='.testroce') as commands:
    profile.write('mode = "inline"\nringz = 1\n')
    profile.flush()
    commands.write('# one bad line\nfrobnicate 1\n')
    commands.flush()
    table = (
        # what, arguments, what the line must name
        ('an unknown option', own('--frobnicate'), 'unknown option --frobnicate: see --help'),
        ('a slip in an option', own('--mdoe', 'inline'), '--mdoe, nearest is --mode: see --help'),
        ('an option without its value', own('--mode'), '--mode needs a value (who polls: inline'),
        ('a wrong value', own('--mode', 'fast'), 'mode=fast: give inline, shared or worker'),
        ('a wrong key in a profile', own('--profile', profile.name),
         f"{profile.name}:2: unknown key 'ringz', nearest is rings; known are mode, "),
        ('a profile that is not there', own('--profile', '/nonexistent.toml'),
         "'/nonexistent.toml' (No such file or directory): give --profile a TOML file"),
        ('no such port', {'own': ['--rings', '1', '--port', 'net_ring_u7,address=10.0.0.1/24']},
         'net_ring_u7: no such DPDK port; there are: net_ring_u0, net_ring_u1'),
        ('no port at all', {'own': []}, '--rings 1'),
        ('a port of our own without an address', {'own': ['--rings', '1', '--port', 'net_ring_u0']},
         '--port net_ring_u0,address=10.0.0.1/24'),
        ('an address that is none', {'own': ['--port', 'net_ring_u0,address=10.0.0.300/24']},
         '10.0.0.300/24'),
        ('an address without a way to it', own() | {'text': 'create qp 0 rc\n'
         'connect qp 1 fd00::2 0x123456 0\n', 'inside': 'No route to host'}, 'commands failed'),
        ('a bad fault', own('--fault', 'loss=2'), 'loss=2'),
        ('no memory', {'eal': [*EAL, '-m', '16']}, 'give EAL -m '),
        ('a worker without an lcore', own('--mode', 'worker'), '-l 0,1'),
        ('no huge pages', {'eal': [option for option in EAL if option != '--no-huge']},
         '--no-huge'),
        ('an argument that EAL does not know', {'eal': [*EAL, '--bogus']},
         'EAL has no option --bogus'),
        ('an argument that EAL refuses', {'eal': [*EAL, '--iova-mode=x']},
         '-l 0 --iova-mode=x'),
        ('a command file that is not there', own('--cmdline-file', '/nonexistent'),
         '/nonexistent'),
        ('a command file that is a directory', own('--cmdline-file', '/tmp'),
         'cannot read /tmp: Is a directory'),
        ('a command file that fails', own('--cmdline-file', '/proc/self/mem'),
         'cannot read /proc/self/mem: Input/output error'),
        ('no messages', own() | {'text': 'create qp 0 rc\ncreate qp 1 rc\nconnect pair 1 2 0\n'
         'send 1 5 0\n', 'inside': 'COUNT is 0'}, 'commands failed'),
        ('a group that is none', own() | {'text': 'create qp 0 ud\nattach 1 10.0.0.1\n',
         'inside': '"10.0.0.1" names 10.0.0.1, which is no group: IPv4 groups are 224.0.0.0'},
         'commands failed'),
        ('one address on two ports', {'own': ['--rings', '1', '--port',
         'net_ring_u0,address=10.0.0.1/24', '--port', 'net_ring_u1,address=10.0.0.1/24']},
         'address 10.0.0.1 of port net_ring_u1 is that of port net_ring_u0'),
        ('a secondary process', {'eal': [*EAL, '--proc-type=secondary']},
         '--proc-type=secondary: uroce runs in primary processes only'),
        ('a secondary process, in short', {'eal': [*EAL, '--proc', 'auto']},
         '--proc-type=auto: uroce runs in primary processes only'),
        ('a CPU that is not there', {'eal': [*EAL[:-1], '9999']}, '-l 9999: there is no CPU 9999'),
        ('a vdev without its interface', {'eal': [*EAL, '--vdev=net_af_packet0']},
         '--vdev=net_af_packet0: add iface=NAME'),
        ('a vdev on an interface that is not there',
         {'eal': [*EAL, '--vdev', 'net_af_packet0,iface=nope']},
         "--vdev=net_af_packet0,iface=nope: there is no network interface 'nope'"),
        ('a vdev on a file that is not there',
         {'eal': [*EAL, '--vdev=net_pcap0,rx_pcap=/nonexistent,tx_pcap=/dev/null']},
         "cannot read '/nonexistent' (No such file or directory)"),
        ('a vdev on a file that is no capture',
         {'eal': [*EAL, '--vdev=net_pcap0,rx_pcap=/dev/null,tx_pcap=/dev/null'],
          'own': ['--port', 'net_pcap0']}, 'EAL could not make the vdev net_pcap0'),
        ('a command that does not exist', own('--cmdline-file', commands.name),
         f'{commands.name}:2: no such command "frobnicate 1"'),
        ('no period', own('--stats-period', 'soon'), '"soon"'),
    )
    for what, how, wanted in table:
        inside = how.pop('inside', '')
        result = testroce.run(sys.argv[1], **how)
        line = testroce.refusal(result)
        assert wanted in line and inside in result.stdout, f'{what}: {result}'
        assert 'EAL common options' not in result.stdout or 'refuses' in what, f'{what}: {result}'
        print(f'{what}: {line}')


def no_memory_for_tables():
    """A limit on address space stands for a small machine; sanitizers need more of it to start."""
    if b'__asan_init' in pathlib.Path(sys.argv[1]).read_bytes():
        return
    result = subprocess.run(
        ['prlimit', '--as=500000000', sys.argv[1], *EAL, '-m', '64', '--', *PORTS,
         '--limit', 'queue_pairs=1048576'],
        capture_output=True, text=True, input='', timeout=60)
    line = testroce.refusal(result)
    assert 'lower a --limit (queue_pairs' in line, line
    print(f'no memory for tables: {line}')


no_memory_for_tables()


def a_file_prefix_that_is_taken():
    """Two programs that share DPDK's files; the first lives until its input ends."""
    eal = [*(option for option in EAL if option != '--no-shconf'),
           '--file-prefix', f'uroce-input-{os.getpid()}']
    first = subprocess.Popen([sys.argv[1], *eal, '--', *PORTS], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        first.stdin.write('show port 0\n')
        first.stdin.flush()
        first.stdout.readline()  # it runs
        line = testroce.refusal(testroce.run(sys.argv[1], eal=eal))
    finally:
        first.communicate(timeout=60)
    assert f'is in use by process {first.pid}' in line and '--no-shconf' in line, line
    print(f'a file prefix that is taken: {line}')


def the_demo_takes_no_options():
    demo = subprocess.run([sys.argv[2], '--frobnicate'], capture_output=True, text=True, timeout=60)
    assert demo.returncode == 2 and demo.stderr.splitlines() == [
        'uroce-demo: unknown argument --frobnicate: it takes none but --help'], demo
    usage = subprocess.run([sys.argv[2], '--help'], capture_output=True, text=True, timeout=60)
    assert usage.returncode == 0 and usage.stdout.startswith('uroce-demo [--help]'), usage


def the_demo_ends_at_a_signal():
    demo = subprocess.Popen([sys.argv[2]], stderr=subprocess.PIPE, text=True)
    demo.stderr.readline()  # under way
    demo.terminate()
    rest = demo.communicate(timeout=60)[1]
    assert demo.returncode == 1 and rest.splitlines()[-1] == 'uroce-demo: interrupted', rest


a_file_prefix_that_is_taken()
the_demo_takes_no_options()
the_demo_ends_at_a_signal()


def an_address_that_the_port_has_not():
    """The kernel's addresses are those of a shared port; needs root for a namespace."""
    space, interface = f'uroce-input-{os.getpid()}', 'va'
    inside = ['ip', 'netns', 'exec', space]
    subprocess.run(['ip', 'netns', 'add', space], check=True)
    try:
        for command in (f'link add {interface} type veth peer name vb',
                        f'link set {interface} up', 'link set vb up',
                        f'addr add 10.9.0.1/24 dev {interface}'):
            subprocess.run(['ip', '-n', space, *command.split()], check=True)
        results = [subprocess.run(
            [*inside, sys.argv[1], *EAL,
             f'--vdev=net_af_packet0,iface={interface},framesz=2048,blocksz=4096', '--', '--port',
             f'net_af_packet0,address=10.9.0.7/24{ownership}'],
            capture_output=True, text=True, input='', timeout=60) for ownership in ('', ',shared')]
    finally:
        subprocess.run(['ip', 'netns', 'del', space], check=True)
    for result in results:
        line = testroce.refusal(result)
        assert f'address 10.9.0.7 is not on interface {interface}' in line, line
        assert f'ip addr add 10.9.0.7/24 dev {interface}' in line, line
        print(f'an address that the port has not: {line}')


if os.geteuid() == 0:
    an_address_that_the_port_has_not()
else:
    print('skipped without root: an address that the port has not')
