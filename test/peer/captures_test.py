#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every capture of a foreign stack decodes: ICRCs good, opcodes known, wrong packets named.

Usage: captures_test.py UROCE-INFO CAPTURES. Reports in TAP. What a capture must contain is held
against a second reading of the file, made here with Python's zlib and nothing of the product.
"""
import pathlib
import re
import struct
import subprocess
import sys
import zlib

# What is wrong in probe/, and nothing else is.
PROBE_FAULTS = {
    'icrc': 'icrc',
    'tver': 'bth_version',
    'udp-sum-wrong': 'udp_checksum',
    'atomic-cut': 'header_short',
    'pad-too-big': 'pad',
    'opcode-reserved': 'opcode_unknown',
}
CAPTURES = 68
PROBES = 49
ROCE_PACKETS = 1833
IB_OFFSET = {4: 20 + 8, 6: 40 + 8}


def decode(program, *arguments):
    return subprocess.run([program, 'decode', *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def frames(path):
    """The frames of a classic little-endian pcap file."""
    data = path.read_bytes()
    at = 24
    while at < len(data):
        kept = struct.unpack_from('<I', data, at + 8)[0]
        yield data[at + 16:at + 16 + kept]
        at += 16 + kept


def roce_packet(frame):
    """The IP packet of a frame to UDP port 4791, else None."""
    ethertype = frame[12:14]
    if ethertype == b'\x08\x00' and frame[23] == 17:
        packet = frame[14:14 + struct.unpack_from('>H', frame, 16)[0]]
        port = packet[22:24]
    elif ethertype == b'\x86\xdd' and frame[20] == 17:
        packet = frame[14:14 + 40 + struct.unpack_from('>H', frame, 18)[0]]
        port = packet[42:44]
    else:
        return None
    return packet if port == b'\x12\xb7' else None


def icrc_good(packet):
    masked = bytearray(packet[:-4])
    if packet[0] >> 4 == 4:
        ones = (1, 8, 10, 11, 26, 27, 32)
    else:
        masked[0] |= 0x0f
        ones = (1, 2, 3, 7, 46, 47, 52)
    for offset in ones:
        masked[offset] = 0xff
    value = zlib.crc32(b'\xff' * 8 + bytes(masked))
    return value == struct.unpack('<I', packet[-4:])[0]


def expected_opening(packet):
    """QPN and PSN as the decoder prints them."""
    bth = packet[IB_OFFSET[packet[0] >> 4]:]
    return f"QPN 0x{bth[5:8].hex()} PSN 0x{bth[9:12].hex()}"


def check_capture(program, path, fault):
    """What is wrong with the decoder's account of a file; an empty list if nothing is."""
    result = decode(program, path)
    lines = result.stdout.splitlines()
    listed, summary = lines[:-1], lines[-1] if lines else ''
    packets = [roce_packet(frame) for frame in frames(path)]
    breaches = []
    if result.returncode != (1 if fault else 0):
        breaches.append(f'exit status {result.returncode}: {result.stderr.strip()}')
    if len(listed) != len(packets):
        return breaches + [f'{len(listed)} lines for {len(packets)} frames']
    bad = 0
    for line, packet in zip(listed, packets):
        bad += ' BAD ' in line
        if packet is None:
            if 'ICRC' in line or 'refused' in line or 'not RoCE' in line:
                breaches.append(f'not understood: {line}')
        elif expected_opening(packet) not in line:
            breaches.append(f'wrong QPN or PSN: {line}')
        elif ' BAD ' not in line and (not line.endswith('ICRC ok') or not icrc_good(packet)):
            breaches.append(f'ICRC not verified: {line}')
    roce = sum(packet is not None for packet in packets)
    if f': {len(packets)} frames: {roce} RoCE, ' not in summary:
        breaches.append(f'wrong summary: {summary}')
    wanted = f'; 1 bad ({fault} 1)' if fault else '; 0 bad'
    if not summary.endswith(wanted) or bad != bool(fault):
        breaches.append(f'wanted "{wanted}": {summary}')
    return breaches


def check_totals(program, folder, count, pattern):
    result = decode(program, '-s', *sorted(folder.glob('*.pcap')))
    lines = result.stdout.splitlines()
    if len(lines) == count + 1 and re.fullmatch(pattern, lines[-1]):
        return []
    return [f'{len(lines) - 1} files, {lines[-1] if lines else "no output"}; wanted {pattern}']


def check_opcode_is_shown(program, folder):
    result = decode(program, '-b', folder / 'opcode-reserved.pcap')
    return [] if 'opcode 0x1E' in result.stdout else [f'no opcode 0x1E in: {result.stdout}']


def check_errors(program, folder):
    """One clear line on stderr and status 2 for what cannot be read."""
    breaches = []
    readme = folder / 'README.md'
    for path, words in ((folder / 'no-such.pcap', 'cannot open: No such file or directory'),
                        (readme, 'not a capture file')):
        result = decode(program, path)
        if (result.returncode != 2 or f'{path}: {words}' not in result.stderr
                or result.stderr.count('\n') != 1):
            breaches.append(f'{path.name}: status {result.returncode}, "{result.stderr}"')
    return breaches


def check_readme(folder):
    text = (folder / 'README.md').read_text(encoding='utf-8')
    stems = [path.stem for path in folder.rglob('*.pcap')]
    # A family such as "nak-access-write, -read" may name its later members by their endings.
    return [f'README.md does not mention {stem}' for stem in stems
            if not re.search(rf'\b{re.escape(stem)}\b', text)
            and not re.search(rf'(?<=, )-{re.escape(stem.split("-")[-1])}\b', text)]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    probe = folder / 'probe'
    checks = [(path.stem, lambda path=path: check_capture(program, path, None))
              for path in sorted(folder.glob('*.pcap'))]
    checks += [(f'probe {path.stem}', lambda path=path: check_capture(
        program, path, PROBE_FAULTS.get(path.stem))) for path in sorted(probe.glob('*.pcap'))]
    faults = ', '.join(f'{name} 1' for name in sorted(PROBE_FAULTS.values()))
    checks += [
        ('all captures are good', lambda: check_totals(
            program, folder, CAPTURES,
            rf'all {CAPTURES} files: \d+ frames: {ROCE_PACKETS} RoCE, \d+ link, 0 other; 0 bad')),
        ('six probes are bad, once each', lambda: check_totals(
            program, probe, PROBES,
            rf'all {PROBES} files: .*; {len(PROBE_FAULTS)} bad \({faults}\)')),
        ('the reserved opcode is shown', lambda: check_opcode_is_shown(program, probe)),
        ('unreadable files are said', lambda: check_errors(program, folder)),
        ('the README knows every capture', lambda: check_readme(folder)),
    ]
    print(f'1..{len(checks)}')
    failed = 0
    for number, (name, check) in enumerate(checks, 1):
        breaches = check()
        failed += bool(breaches)
        for breach in breaches:
            print(f'# {breach}')
        print(f"{'not ' if breaches else ''}ok {number} - {name}")
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
