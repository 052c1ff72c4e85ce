# SPDX-License-Identifier: BSD-3-Clause
"""The cases from the field, and the rule that each is found in the tests by its tag (`case 52`).

A case is a fault that software of this kind was seen to have, as an input and the right outcome.
Its tag stands in a comment at the tests that show the outcome, or in their names (Case52), all
parts of it together. Cases of the connection manager, of processes and of congestion control come
with those parts.
"""
import re

CASES = {
    1: 'the ICRC of an IPv4 packet is the reference one and follows the fields that it covers',
    2: 'the same over IPv6: class, label and hop limit are masked, addresses and lengths are not',
    4: 'fields that may change on the way leave a packet good; any other change is a silent drop',
    5: 'looped and sent frames are the same bytes, lengths and checksum right',
    7: 'every opcode in every length: dropped by name, never answered, never read beyond',
    8: 'a pad or header that does not fit is found before any arithmetic',
    10: 'lengths of UDP, IP and frame that disagree are dropped; bytes behind the packet are not',
    11: 'lengths that an operation cannot have are refused before memory is touched',
    13: 'a duplicate READ inside a half-received WRITE does not disturb it',
    14: 'a duplicate WRITE is acknowledged with its own PSN, not executed again',
    16: 'a READ of which a part is missing is asked for again from there, and never skipped',
    17: 'a WRITE that goes again goes to the same place',
    19: 'the wait after an RNR NAK is kept whatever else fires or arrives',
    20: 'RNR timer codes are waited for as the table says; 0 is the longest',
    22: 'timeout 0 waits for ever, retry count 7 means seven',
    23: 'a silent peer costs the retries, then one error that names it and flushes in order',
    25: 'frames of a dead queue pair do nothing to the one that took its place',
    26: 'a message without data has a PSN of its own',
    28: 'a READ of nothing looks at no key',
    29: 'a WRITE of nothing is one packet and touches no memory',
    31: 'lengths one beside every edge arrive whole',
    32: 'the longest message is what the port says, and one byte more is refused',
    34: 'lengths that wrap in 32 bits are refused at the post',
    35: 'inline data given as a list is counted as a whole',
    37: 'a chain stops at its first bad request and says which',
    38: 'a fence holds until the READs before it are done; READs wait for their turn',
    40: 'signal-all makes every request complete; a failure completes always',
    41: 'one event for one arming, and none is missed',
    43: 'requests on a queue pair in error complete at once, flushed',
    44: 'good requests before a bad one are carried out',
    46: 'a marker posted to a queue pair in error comes back last',
    47: 'destroying loses nothing that was reported sent, and leaves no completion behind',
    49: 'the last work of a shared receive queue is announced once',
    50: 'with a shared receive queue its sizes count',
    52: 'bounds of a region hold at the ends of the address space',
    53: 'keys are unequal, never zero, and dead when they are retired',
    55: 'a forged packet needs address, partition, domain and window',
    56: 'memory that cannot be used is refused when it is registered',
    58: 'the 40 bytes before a datagram tell the address family',
    59: 'an address that cannot be used is refused at once, one that is not there in time',
    61: 'a group is reported to the routers when it is joined and left',
    62: 'IPv4 groups are delivered by address, not by their shared MAC',
    64: 'group packets carry the group number both ways, nothing else is delivered',
    65: 'membership is a set; a MAC shared by groups stays until both are left',
    67: 'what a join reports is the same every time',
    68: 'a member that cannot take a copy costs the others nothing',
    70: 'ports without multicast calls work by what they have',
    71: 'a frame in several pieces is one frame, wherever it is split',
    73: 'each address has its entry in the GID table, in a documented order',
    74: 'every valid entry is RoCE v2',
    76: 'a VLAN is sent, demanded and kept out of the ICRC',
    77: 'link-local addresses keep their interface',
    91: 'MigReq, version, partition and solicited bits are as NICs have them',
    92: 'an acknowledgement is asked for where there is one, and often enough',
}
LATER = {79, 80, 82, 83, 85, 86, 88, 89}  # connection manager, processes, congestion control
TAG = re.compile(r'\b[Cc]ases? ((?:\d+[a-z]?(?:, | and )?)+)(?!\d)')


def tagged(tree):
    """{number: [file name]}: where the tests name a case."""
    found = {}
    for file in tree.files:
        if not file.is_source or not (file.is_test or file.name.startswith('test/')):
            continue
        if file.name.startswith('test/tidy/'):
            continue
        for line in file.lines:
            comment = re.search(r'(//|#|""")(.*)', line)
            numbers = [number for match in TAG.finditer(comment[2] if comment else '')
                       for number in re.findall(r'\d+', match[1])]
            if line.startswith('TEST'):
                numbers += re.findall(r'Case(\d+)', line)
            for number in numbers:
                found.setdefault(int(number), []).append(file.name)
    return found


def each_case_has_its_test(tree):
    found = tagged(tree)
    breaches = [f'{name}:1: there is no case {number}' for number, names in sorted(found.items())
                if number not in CASES and number not in LATER for name in names]
    return breaches + [f'case {number} has no test: {CASES[number]}' for number in CASES
                       if number not in found]
