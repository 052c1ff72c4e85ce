# SPDX-License-Identifier: BSD-3-Clause
"""What rdma-core's tests are to come to: a list that is compared with a run, and may only get
better.

A line of the list is "TEST pass" or "TEST skip REASON". A run is a dict of test to
(outcome, detail), outcome being pass, skip or fail.
"""
import re

PASSES = 134  # of the list, at least

# Why a test may be skipped: what the test and its own message look like, and the words for it.
REASONS = {
    'vendor': (r'^test_(mlx5|efa)', 'calls that one vendor has for its NICs'),
    'raw-packet': (r'QP type 8|Raw Packet',
                   'queues of whole Ethernet frames: the port is the stack\'s, and perhaps the '
                   'kernel\'s'),
    'tag-matching': (r'^test_tag_matching\S* Extended CQ',
                     'message tags matched, and rendezvous done, by the NIC'),
    'gpu': (r'cuda-python|/dev/dri', 'memory of a GPU'),
    'import': (r'[Ii]mport', 'objects that the kernel holds for several processes'),
}
# What the machine may lack rather than the device. Such tests are listed as passes.
MACHINE = {'2 MiB pages': r'no huge pages'}


def read(text):
    """A dict of test to 'pass' or the reason of its skip."""
    lines = (line.split('#')[0].split() for line in text.splitlines())
    return {words[0]: words[-1] for words in lines if words}


def write(listed):
    """The text of such a dict."""
    header = ['# SPDX-License-Identifier: BSD-3-Clause',
              '# rdma-core\'s tests on our device: what passes, and why what does not is skipped.',
              '# Made by: ./run pyverbs --write. Reasons:']
    header += [f'#   {reason}: {words}' for reason, (_, words) in REASONS.items()]
    lines = [f'{test} {"pass" if state == "pass" else f"skip {state}"}'
             for test, state in sorted(listed.items())]
    return '\n'.join(header + lines) + '\n'


def fits(pattern, test, detail):
    return re.search(pattern, f'{test}: {detail}') is not None


def lacks_of_machine(test, detail, lacking):
    return any(fits(MACHINE[what], test, detail) for what in lacking)


def complaint(test, state, outcome, detail, lacking):
    """What is wrong with a test that ran, None if nothing is. state: None if it is not listed."""
    if outcome == 'fail':
        return f'failed: {detail.strip().splitlines()[-1] if detail.strip() else "no reason told"}'
    if outcome == 'pass':
        return None
    if state is None:
        return f'is skipped, and not listed: {detail}'
    if state == 'pass':
        return (None if lacks_of_machine(test, detail, lacking)
                else f'passes by the list, and is skipped: {detail}')
    if not fits(REASONS[state][0], test, detail):
        return f'is skipped for another reason than {state}: {detail}'
    return None


def judge(listed, ran, lacking=()):
    """Complaints, and the tests that are new among the passes. lacking: keys of MACHINE."""
    complaints = []
    for test in sorted(listed.keys() | ran.keys()):
        told = ('is listed, and did not run' if test not in ran else
                complaint(test, listed.get(test), *ran[test], lacking))
        if told:
            complaints.append(f'{test} {told}')
    passes = sum(state == 'pass' for state in listed.values())
    if passes < PASSES:
        complaints.append(f'the list has {passes} passes, and had {PASSES}')
    new = sorted(test for test, (outcome, _) in ran.items()
                 if outcome == 'pass' and listed.get(test) != 'pass')
    return complaints, new


def updated(listed, ran):
    """The list after this run, and what keeps it from being one: a pass is never taken back."""
    after, refused = dict(listed), []
    for test, (outcome, detail) in sorted(ran.items()):
        if outcome == 'pass':
            after[test] = 'pass'
        elif listed.get(test) == 'pass':
            refused += [] if lacks_of_machine(test, detail, MACHINE) else [f'{test} passed before']
        elif outcome == 'skip':
            found = [name for name, (pattern, _) in REASONS.items() if fits(pattern, test, detail)]
            after[test] = found[0] if found else ''
            refused += [] if found else [f'{test} is skipped for a new reason: {detail}']
        else:
            refused.append(f'{test} failed')
    return after, refused
