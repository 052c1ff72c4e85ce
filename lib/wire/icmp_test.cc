// SPDX-License-Identifier: BSD-3-Clause
// ICMP and ICMPv6: what is built parses back, and damage is refused by name.
#include "wire/icmp.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::Random;

Drop parse_frame(std::span<const uint8_t> frame, IcmpMessage& out) {
  L3Info info;
  const FrameKind kind = classify(frame, any_vlan(), info);
  if (kind != FrameKind::kIcmp && kind != FrameKind::kIcmpv6) return info.not_roce;
  return parse_icmp(frame, info, any_vlan(), out);
}

TEST(Icmp, WhatIsBuiltParsesBack) {
  Random random(12);
  for (int i = 0; i < 1000; ++i) {
    const bool ipv6 = random.coin();
    IpFields ip;
    ip.source = ipv6 ? random.ipv6() : random.ipv4();
    ip.destination = ipv6 ? random.ipv6() : random.ipv4();
    ip.traffic_class = random.byte();
    const std::vector<uint8_t> data = random.bytes(random.below(200));
    IcmpMessage message;
    message.kind = static_cast<IcmpKind>(random.below(4));
    const bool echo =
        message.kind == IcmpKind::kEchoRequest || message.kind == IcmpKind::kEchoReply;
    message.echo_id = echo ? random.word() : uint16_t{0};
    message.echo_sequence = echo ? random.word() : uint16_t{0};
    message.mtu = message.kind == IcmpKind::kPacketTooBig ? random.word() : 0;
    message.data = data;
    uint8_t room[512];
    const uint32_t length = build_icmp(room, random.ethernet(), ip, message);
    ASSERT_GT(length, 0u);
    IcmpMessage back;
    ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
    EXPECT_EQ(back.kind, message.kind);
    EXPECT_EQ(back.ipv6, ipv6);
    EXPECT_EQ(back.echo_id, message.echo_id);
    EXPECT_EQ(back.echo_sequence, message.echo_sequence);
    EXPECT_EQ(back.mtu, message.mtu);
    EXPECT_EQ(back.source, ip.source);
    EXPECT_EQ(back.destination, ip.destination);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), back.data.begin(), back.data.end()));
  }
}

TEST(Icmp, ADamagedMessageHasAWrongChecksum) {
  for (const bool ipv6 : {false, true}) {
    Random random(13);
    IpFields ip;
    ip.source = ipv6 ? random.ipv6() : random.ipv4();
    ip.destination = ipv6 ? random.ipv6() : random.ipv4();
    IcmpMessage message;
    message.kind = IcmpKind::kEchoRequest;
    uint8_t room[256];
    const uint32_t length = build_icmp(room, {}, ip, message);
    room[length - 1] ^= 1;
    IcmpMessage back;
    EXPECT_EQ(parse_frame({room, length}, back), Drop::kIcmpChecksum);
    EXPECT_EQ(parse_frame({room, length - 1}, back), Drop::kFrameCut);
  }
}

TEST(Icmp, OtherTypesKeepTypeAndCode) {
  IpFields ip;
  ip.source = Gid::from_ipv4(1);
  ip.destination = Gid::from_ipv4(2);
  IcmpMessage message;
  message.type = 11;
  message.code = 1;
  uint8_t room[256];
  const uint32_t length = build_icmp(room, {}, ip, message);
  IcmpMessage back;
  ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
  EXPECT_EQ(back.kind, IcmpKind::kOther);
  EXPECT_EQ(back.type, 11);
  EXPECT_EQ(back.code, 1);
}

TEST(Icmp, LessThanAHeaderIsMalformed) {
  IpFields ip;
  ip.source = Gid::from_ipv4(1);
  ip.destination = Gid::from_ipv4(2);
  ip.protocol = kProtocolIcmp;
  uint8_t room[64] = {};
  const uint32_t l3 = store_ethernet(room, {}, kEthertypeIpv4);
  store_ip(room + l3, ip, 7);
  IcmpMessage back;
  EXPECT_EQ(parse_frame({room, l3 + 27}, back), Drop::kIcmpMalformed);
}

TEST(Icmp, ARoomTooSmallIsSaid) {
  uint8_t room[45];
  IpFields ip;
  ip.source = ip.destination = Gid::from_ipv4(1);
  EXPECT_EQ(build_icmp(room, {}, ip, {}), 0u);
}

}  // namespace
}  // namespace uroce::wire
