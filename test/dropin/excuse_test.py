#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""When an exchange with soft-RoCE that failed may be tried again, by captures made for it."""
import struct
import unittest

import bed
import guest_bed
from guest_bed import guest

SEND_ONLY, ACKNOWLEDGE = 0x04, 0x11
SILENT = bed.Failed('client: no completion in 60000 ms')


def frame(source, opcode, ipv6=False):
    header = (b'\x86\xdd' + bytes(40)) if ipv6 else (b'\x08\x00' + bytes(20))
    return bytes(6) + bytes.fromhex(source.replace(':', '')) + header + bytes(8) + bytes([opcode])


def capture(*frames):
    """A pcap file."""
    records = (struct.pack('<4I', 0, 0, len(one), len(one)) + one for one in frames)
    return bytes(bed.PCAP_HEADER) + b''.join(records)


OURS, THEIRS = frame(guest.HOST_MAC, ACKNOWLEDGE), frame(guest.GUEST_MAC, SEND_ONLY)


class Excuse(unittest.TestCase):
    def excuse(self, failure, frames, server_end='a', lossy=True):
        one = object.__new__(guest_bed.GuestBed)  # without a guest
        one.loses_frames = lossy
        return one.excuse(failure, server_end, frames)

    def test_soft_roce_that_is_silent_after_our_answer(self):
        for ipv6 in (False, True):
            answer = frame(guest.HOST_MAC, ACKNOWLEDGE, ipv6)
            self.assertIn('stopped', self.excuse(SILENT, capture(THEIRS, answer)))

    def test_not_when_we_owe_the_answer(self):
        self.assertEqual(self.excuse(SILENT, capture(OURS, THEIRS)), '')

    def test_not_when_the_last_answer_is_theirs(self):
        answer = frame(guest.GUEST_MAC, ACKNOWLEDGE)
        self.assertEqual(self.excuse(SILENT, capture(OURS, answer)), '')

    def test_not_when_our_last_frame_asks(self):
        self.assertEqual(self.excuse(SILENT, capture(frame(guest.HOST_MAC, SEND_ONLY))), '')

    def test_not_when_nothing_was_said(self):
        self.assertEqual(self.excuse(SILENT, capture()), '')

    def test_not_over_a_link_that_loses_nothing(self):
        self.assertEqual(self.excuse(SILENT, capture(THEIRS, OURS), lossy=False), '')

    def test_not_when_it_is_we_who_wait(self):
        self.assertEqual(self.excuse(SILENT, capture(THEIRS, OURS), server_end='b'), '')

    def test_not_for_another_failure(self):
        self.assertEqual(self.excuse(bed.Failed('wrong bytes'), capture(THEIRS, OURS)), '')


if __name__ == '__main__':
    unittest.main(verbosity=2)
