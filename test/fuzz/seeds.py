#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzzer seeds out of captures and profiles: one folder per target.

  seeds.py SEED_FOLDER CAPTURE_FOLDER PROFILE_FOLDER

The corpus in the tree was merged from these and from what long runs found (test/fuzz/fuzz.py).
"""
import hashlib
import pathlib
import struct
import sys

FRAMES_PER_CAPTURE = 20  # the first ones differ most; more only slow the start
COMMAND_LINES = (
    '--mode\nworker\n--cores\n1,3\n--rings\n2\n--limit\nqueue_pairs=256\n--fault\nloss=0.01',
    '--port\nnet_af_packet0,address=10.0.0.1/24,address=fd00::1/64,gateway=10.0.0.254,vlan=7,own',
    '--port=a,shared,promiscuous,mtu=9000,queues=4,descriptors=512\n--log-level\ndebug',
    '--mode\nshared\n--limit\nmemory_regions=16\n--limit\nmulticast_groups=1',
)


def frames(data):
    """The frames of a classic little-endian pcap file; none of any other."""
    if data[:4] not in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1'):
        return
    position = 24
    while position + 16 <= len(data):
        length = struct.unpack_from('<I', data, position + 8)[0]
        yield data[position + 16:position + 16 + length]
        position += 16 + length


def transport_header(frame):
    """Offset of the BTH in a frame of the captures; None: it is no RoCE packet."""
    for ethertype, protocol, offset in ((b'\x08\x00', 23, 34), (b'\x86\xdd', 20, 54)):
        if (frame[12:14] == ethertype and len(frame) >= offset + 24 and frame[protocol] == 17
                and frame[offset + 2:offset + 4] == b'\x12\xb7'):
            return offset + 8
    return None


def packet_operands(opcode, syndrome):
    """What a packet's instruction says of its extension headers (test/fuzz/engine/packets.cc)."""
    operation = opcode & 0x1F
    if opcode >> 5 == 3:
        return bytes(4 if opcode == 0x65 else 0) + bytes(1)  # ImmDt, DETH
    operands = b''
    if operation in (0x06, 0x0A, 0x0B, 0x0C, 0x1C, 0x1D):
        operands += bytes(5)  # RETH
    if operation in (0x13, 0x14):
        operands += bytes(8)  # AtomicETH
    if operation in (0x0D, 0x0F, 0x10, 0x11, 0x12):
        operands += bytes((syndrome, 0))  # AETH
    if operation in (0x03, 0x05, 0x09, 0x0B, 0x12):
        operands += bytes(4)  # ImmDt, AtomicAckETH
    if operation in (0x16, 0x17, 0x1C):
        operands += bytes(1)  # IETH, FETH
    return operands


def request_step(opcode):
    """A request of the queue pair that such a response could answer; the kinds of posts.cc."""
    kind = {0x0D: 2, 0x0E: 2, 0x0F: 2, 0x10: 2, 0x12: 14}.get(opcode, 0)
    return bytes((4, 0, kind, 0, 0, 0, 0)) + bytes(5 if kind == 14 else 0)


def engine_steps(capture):
    """The packets of a capture as steps of engine_fuzz (test/fuzz/engine/steps.h)."""
    steps = b''
    for slot in (0, 1):  # path MTU 1024, PSN 100, timeout 10, 3 retries, 4 READs
        steps += bytes((9, slot, 2, 0, 0, 0, 100, 10, 3, 4))
    for frame in list(frames(capture))[:FRAMES_PER_CAPTURE]:
        at = transport_header(frame)
        if at is None:
            continue
        opcode = frame[at]
        slot = {0: 0, 1: 1, 3: 2}.get(opcode >> 5, 0)
        pad = frame[at + 1] >> 4 & 3
        response = opcode in range(0x0D, 0x13)
        headers = {0x0E: 12, 0x11: 16, 0x12: 24}.get(opcode, 16 if response else 12)
        length = min(max(len(frame) - at - headers - 4 - pad, 0), 1024)
        steps += request_step(opcode) if response else bytes((6,))
        steps += bytes((0, slot, 1, opcode, 0)) + struct.pack('>H', length)
        steps += packet_operands(opcode, frame[at + 12]) + bytes(min(length, 4))
        steps += bytes((7,))
    return steps


def edge_steps():
    """WRITEs of one byte next to the open region, then a look at what lies around it."""
    steps = b''
    # A refused one is the last of a reliable queue pair: RC, shared RC, XRC target; UC goes on.
    for slot, offset in ((0, 4096), (5, -1), (4, 4096), (1, 4096), (1, -1)):
        steps += bytes((0, slot, 0, 0x0A, 0)) + struct.pack('>HBhH', 1, 0, offset, 0)
        steps += bytes(1 if slot == 4 else 0) + b'\x11'  # XRCETH, payload
    return steps + bytes((7,))


def main():
    folder, captures, profiles = map(pathlib.Path, sys.argv[1:4])

    def keep(target, data):
        path = folder / target
        path.mkdir(parents=True, exist_ok=True)
        (path / hashlib.sha1(data).hexdigest()).write_bytes(data)

    for path in sorted(captures.rglob('*.pcap')):
        capture = path.read_bytes()
        keep('engine_fuzz', engine_steps(capture))
        first = list(frames(capture))[:FRAMES_PER_CAPTURE]
        for frame in first:
            keep('parse_fuzz', b'\0' + frame)
        keep('capture_fuzz', capture[:24 + sum(16 + len(frame) for frame in first[:2])])
    for path in sorted(profiles.glob('*.toml')):
        keep('config_fuzz', b'\0' + path.read_bytes())
    keep('engine_fuzz', edge_steps())
    for line in COMMAND_LINES:
        keep('config_fuzz', b'\1' + line.encode())
    print(*(f'{len(list(path.iterdir()))} for {path.name}' for path in sorted(folder.iterdir())),
          sep=', ', end=f' from {captures}\n')


if __name__ == '__main__':
    main()
