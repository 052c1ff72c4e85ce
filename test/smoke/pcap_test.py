#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file of requests draws answers into a file: net_pcap in and out.

  pcap_test.py UROCE-ANSWERER UROCE-INFO

What is asked is written here, byte by byte; what is answered is compared with what must be.
"""
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile

ANSWERER, INFO = sys.argv[1:3]
BROADCAST, PEER = b'\xff' * 6, bytes.fromhex('020000000009')
OURS4, PEER4 = socket.inet_aton('10.9.0.1'), socket.inet_aton('10.9.0.9')


def checksum(data):
    data += b'\0' * (len(data) % 2)
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ethernet(destination, kind, payload):
    return (destination + PEER + struct.pack('!H', kind) + payload).ljust(60, b'\0')


def arp_request(target):
    return ethernet(BROADCAST, 0x0806, struct.pack('!HHBBH', 1, 0x0800, 6, 4, 1) + PEER + PEER4 +
                    bytes(6) + target)


def ipv4(destination, protocol, payload):
    header = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(payload), 7, 0x4000, 64, protocol, 0)
    header += PEER4 + destination
    return header[:10] + struct.pack('!H', checksum(header)) + header[12:] + payload


def echo_request(destination_mac, destination, number):
    body = struct.pack('!BBHHH', 8, 0, 0, 0x1234, number) + b'uroce golden run'
    body = body[:2] + struct.pack('!H', checksum(body)) + body[4:]
    return ethernet(destination_mac, 0x0800, ipv4(destination, 1, body))


def write_pcap(path, frames):
    data = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for number, frame in enumerate(frames):
        data += struct.pack('<IIII', 1, number, len(frame), len(frame)) + frame
    path.write_bytes(data)


def read_pcap(path):
    data, at, frames = path.read_bytes(), 24, []
    order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
    while at < len(data):
        kept = struct.unpack_from(order + 'IIII', data, at)[2]
        frames.append(data[at + 16:at + 16 + kept])
        at += 16 + kept
    return frames


def run(folder, requests):
    incoming, outgoing = folder / 'requests.pcap', folder / 'answers.pcap'
    write_pcap(incoming, requests)
    outgoing.unlink(missing_ok=True)
    result = subprocess.run(
        [ANSWERER, f'--vdev=net_pcap0,rx_pcap={incoming},tx_pcap={outgoing}', '--no-huge',
         '--no-pci', '-m', '256', '--no-shconf', '--no-telemetry', '-l', '0', '--', '--mode',
         'inline', '--port', 'net_pcap0,address=10.9.0.1/24'],
        capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
    decoded = subprocess.run([INFO, 'decode', str(outgoing)], capture_output=True, text=True,
                             timeout=60)
    assert decoded.returncode == 0, decoded.stdout + decoded.stderr
    return read_pcap(outgoing), decoded.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # The first run tells the port's MAC address, which is the driver's choice.
        answers, _ = run(folder, [arp_request(OURS4)])
        replies = [a for a in answers if a[12:14] == b'\x08\x06' and a[20:22] == b'\0\x02'
                   and a[:6] == PEER]
        assert len(replies) == 1, [a.hex() for a in answers]
        mac = replies[0][6:12]
        assert replies[0][22:42] == mac + OURS4 + PEER + PEER4, replies[0].hex()
        golden = []
        for number in range(3):
            body = struct.pack('!BBHHH', 0, 0, 0, 0x1234, number) + b'uroce golden run'
            golden.append(body[:2] + struct.pack('!H', checksum(body)) + body[4:])
        requests = [arp_request(OURS4), arp_request(socket.inet_aton('10.9.0.2'))]
        requests += [echo_request(mac, OURS4, number) for number in range(3)]
        requests += [echo_request(mac, socket.inet_aton('10.9.0.3'), 9)]
        answers, decoded = run(folder, requests)
        echoes = [a for a in answers if a[12:14] == b'\x08\0' and a[23] == 1]
        assert [a[34:34 + 24] for a in echoes] == golden, [a.hex() for a in echoes]
        for echo in echoes:
            assert echo[:12] == PEER + mac and echo[26:34] == OURS4 + PEER4, echo.hex()
            assert checksum(echo[14:34]) == 0, 'IPv4 header checksum'
        replies = [a for a in answers if a[:6] == PEER and a[12:14] == b'\x08\x06']
        assert len(replies) == 1, [a.hex() for a in answers]
        assert re.search(r'ARP 10\.9\.0\.1 is at', decoded), decoded
        print(f'{len(requests)} requests, {len(answers)} frames out: 1 ARP reply, 3 echo replies')


if __name__ == '__main__':
    main()
