// SPDX-License-Identifier: BSD-3-Clause
// ARP: what is built parses back, and what is not ARP for IPv4 is refused.
#include "wire/arp.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::Random;

Drop parse_frame(std::span<const uint8_t> frame, ArpMessage& out) {
  L3Info info;
  if (classify(frame, any_vlan(), info) != FrameKind::kArp) return info.not_roce;
  return parse_arp(frame, info, out);
}

TEST(Arp, WhatIsBuiltParsesBack) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    const ArpMessage message{random.coin() ? ArpMessage::kRequest : ArpMessage::kReply,
                             random.mac(), random.quad(), random.mac(), random.quad()};
    uint8_t room[64];
    const uint32_t length = build_arp(room, random.ethernet(), message);
    ASSERT_GE(length, 42u);
    ArpMessage back;
    ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
    EXPECT_EQ(back, message);
    for (uint32_t n = kEthernetBytes; n < length; ++n) {
      EXPECT_NE(parse_frame({room, n}, back), Drop::kNone);
    }
  }
}

TEST(Arp, AKnownRequestHasTheRightBytes) {
  uint8_t room[64];
  const ArpMessage message{ArpMessage::kRequest, testing::kMacA, 0x0A000001, {}, 0x0A000002};
  const EthernetFields ethernet{testing::kMacA, kBroadcastMac, false, 0};
  const uint32_t length = build_arp(room, ethernet, message);
  EXPECT_EQ(std::vector<uint8_t>(room, room + length),
            testing::from_hex("ffffffffffff 02000000000a 0806 0001 0800 06 04 0001 "
                              "02000000000a 0a000001 000000000000 0a000002"));
}

TEST(Arp, OtherHardwareProtocolsAndOperationsAreRefused) {
  uint8_t room[64];
  const ArpMessage message{ArpMessage::kReply, testing::kMacA, 1, testing::kMacB, 2};
  const uint32_t length = build_arp(room, {}, message);
  for (const size_t offset : {14u, 15u, 16u, 17u, 18u, 19u, 20u, 22u}) {
    std::vector<uint8_t> frame(room, room + length);
    frame[offset] ^= 0x09;
    ArpMessage back;
    EXPECT_EQ(parse_frame(frame, back), Drop::kArpMalformed) << offset;
  }
}

TEST(Arp, ARoomTooSmallIsSaid) {
  uint8_t room[40];
  EXPECT_EQ(build_arp(room, {}, {}), 0u);
}

}  // namespace
}  // namespace uroce::wire
