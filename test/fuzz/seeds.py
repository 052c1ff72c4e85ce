#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzzer seeds out of captures: one file per frame, a zero byte (the options) before it.

  seeds.py SEED_FOLDER CAPTURE_FOLDER
"""
import hashlib
import pathlib
import struct
import sys

FRAMES_PER_CAPTURE = 20  # the first ones differ most; more only slow the start


def frames(data):
    """The frames of a classic little-endian pcap file; none of any other."""
    if data[:4] not in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1'):
        return
    position = 24
    while position + 16 <= len(data):
        length = struct.unpack_from('<I', data, position + 8)[0]
        yield data[position + 16:position + 16 + length]
        position += 16 + length


def main():
    folder, captures = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for capture in sorted(captures.rglob('*.pcap')):
        for number, frame in enumerate(frames(capture.read_bytes())):
            if number == FRAMES_PER_CAPTURE:
                break
            (folder / hashlib.sha1(frame).hexdigest()).write_bytes(b'\0' + frame)
    print(f'{len(list(folder.iterdir()))} seeds from {captures}')


if __name__ == '__main__':
    main()
