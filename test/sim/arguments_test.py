#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of uroce-sim, uroce-goodput and uroce-soak: a bad one gets one line that names it and
the cure, and nothing runs; --help is no error."""
import subprocess
import sys

simulator, goodput, soak = sys.argv[1:]
failures = 0


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120)


def expect(what, good):
    global failures
    failures += not good
    print('ok' if good else 'NOT OK', what, flush=True)


def refuses(program, words, *arguments):
    done = run(program, *arguments)
    lines = done.stderr.splitlines()
    expect(f'{arguments}: {done.stderr.strip()}', done.returncode == 2 and not done.stdout
           and len(lines) == 1 and words in lines[0])


refuses(simulator, 'step 100000: the plan has', '--seed', '3', '--steps', '100000')
refuses(simulator, '--steps wants a list', '--seed', '3', '--steps', '3-')
refuses(simulator, '--steps wants a list', '--seed', '3', '--steps', '')
for option, value in (('--steps', '1'), ('--log', 'x'), ('--pcap', 'x'), ('--plan', 'yes')):
    refuses(simulator, f'{option} is for one seed', '--swarm', '3', option, value)
refuses(simulator, '--jobs is for a swarm', '--seed', '3', '--jobs', '2')
refuses(simulator, '--plan wants yes or no, not maybe', '--seed', '3', '--plan', 'maybe')
refuses(simulator, '--jobs wants a number from 1 to 64, not 100', '--swarm', '1', '--jobs', '100')
refuses(simulator, '--swarm wants a number of seeds, from 1 on, not 0', '--swarm', '0')
refuses(simulator, '--seed wants a number from 0 to 18446744073709551615, not -1', '--seed', '-1')
refuses(simulator, '--seed needs a value', '--seed')
refuses(simulator, 'unknown option --sead', '--sead', '1')
refuses(simulator, 'give --seed N or --swarm N')
refuses(goodput, 'PARTIES wants a number from 0 to 3, not 4', '4', '0', '1', '1', '1')
refuses(goodput, 'MTU wants a number from 1 to 5, not x', '0', '0', '1', '1', 'x')
refuses(goodput, 'where a case has 5', '0', '0')
refuses(soak, '--bytes wants a number from 30 to', '--bytes', '29')
refuses(soak, 'unknown argument --byte', '--byte', '100')
for program in (simulator, goodput, soak):
    done = run(program, '--help')
    expect(f'{program} --help', done.returncode == 0 and done.stdout.startswith('usage: ')
           and not done.stderr)
expect('--plan no prints no plan', 'channel 0' not in run(simulator, '--seed', '7', '--plan',
                                                          'no').stdout)
expect('--plan yes prints it', 'channel 0' in run(simulator, '--seed', '7', '--plan', 'yes').stdout)
expect('no steps at all', run(simulator, '--seed', '7', '--steps', 'none').returncode == 0)
sys.exit(1 if failures else 0)
