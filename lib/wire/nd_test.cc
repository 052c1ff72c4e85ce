// SPDX-License-Identifier: BSD-3-Clause
// Neighbour discovery: what is built parses back; what RFC 4861 forbids is refused.
#include "wire/nd.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::Random;

Drop parse_frame(std::span<const uint8_t> frame, NdMessage& out) {
  L3Info info;
  if (classify(frame, any_vlan(), info) != FrameKind::kNd) return info.not_roce;
  return parse_nd(frame, info, any_vlan(), out);
}

Drop parse_built(const NdMessage& message, NdMessage& out) {
  uint8_t room[128];
  const uint32_t length = build_nd(room, {}, message);
  return parse_frame({room, length}, out);
}

NdMessage random_message(Random& random) {
  NdMessage message;
  message.kind = random.coin() ? NdKind::kSolicitation : NdKind::kAdvertisement;
  message.source = random.link_local();
  message.destination = random.ipv6();
  message.target = random.ipv6();
  message.has_link_address = random.coin();
  if (message.has_link_address) message.link_address = random.mac();
  if (message.kind == NdKind::kAdvertisement) {
    message.router = random.coin();
    message.solicited = random.coin();
    message.override_entry = random.coin();
  }
  return message;
}

TEST(NeighbourDiscovery, WhatIsBuiltParsesBack) {
  Random random(14);
  for (int i = 0; i < 1000; ++i) {
    const NdMessage message = random_message(random);
    uint8_t room[128];
    const uint32_t length = build_nd(room, random.ethernet(), message);
    NdMessage back;
    ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
    EXPECT_EQ(back, message);
    room[length - 1] ^= 1;
    EXPECT_EQ(parse_frame({room, length}, back), Drop::kIcmpChecksum);
  }
}

TEST(NeighbourDiscovery, AHopLimitBelow255CameFromElsewhere) {
  Random random(15);
  uint8_t room[128];
  const uint32_t length = build_nd(room, {}, random_message(random));
  room[kEthernetBytes + 7] = 254;
  NdMessage back;
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kNdMalformed);
}

TEST(NeighbourDiscovery, DuplicateAddressDetectionHasItsRules) {
  Random random(16);
  NdMessage message;
  message.target = random.ipv6();
  message.destination = solicited_node(message.target);
  NdMessage back;
  EXPECT_EQ(parse_built(message, back), Drop::kNone);
  message.has_link_address = true;
  EXPECT_EQ(parse_built(message, back), Drop::kNdMalformed);
  message.has_link_address = false;
  message.destination = random.ipv6();
  EXPECT_EQ(parse_built(message, back), Drop::kNdMalformed);
}

TEST(NeighbourDiscovery, MulticastTargetsAndSolicitedMulticastAnswersAreRefused) {
  Random random(17);
  NdMessage message = random_message(random);
  message.target = Gid{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  NdMessage back;
  EXPECT_EQ(parse_built(message, back), Drop::kNdMalformed);
  message = random_message(random);
  message.kind = NdKind::kAdvertisement;
  message.destination = Gid{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  message.solicited = true;
  EXPECT_EQ(parse_built(message, back), Drop::kNdMalformed);
  message.solicited = false;
  EXPECT_EQ(parse_built(message, back), Drop::kNone);
}

TEST(NeighbourDiscovery, AnOptionOfLengthZeroEndsNoLoop) {
  Random random(18);
  NdMessage message = random_message(random);
  message.has_link_address = true;
  message.link_address = random.mac();
  uint8_t room[128];
  const uint32_t length = build_nd(room, {}, message);
  uint8_t* icmp = room + kEthernetBytes + kIpv6Bytes;
  for (const uint8_t units : {uint8_t{0}, uint8_t{2}}) {
    icmp[25] = units;
    store_be16(icmp + 2, 0);
    const uint64_t pseudo = pseudo_header_sum(room + kEthernetBytes + 8, 32, kProtocolIcmpv6, 32);
    store_checksum(icmp + 2, checksum_add(pseudo, icmp, 32));
    NdMessage back;
    EXPECT_EQ(parse_frame({room, length}, back), Drop::kNdMalformed);
  }
}

TEST(NeighbourDiscovery, RouterMessagesAreKnownAndLeftAlone) {
  Random random(19);
  NdMessage message = random_message(random);
  message.has_link_address = false;
  uint8_t room[128];
  const uint32_t length = build_nd(room, {}, message);
  uint8_t* icmp = room + kEthernetBytes + kIpv6Bytes;
  icmp[0] = 134;
  store_be16(icmp + 2, 0);
  const uint64_t pseudo = pseudo_header_sum(room + kEthernetBytes + 8, 32, kProtocolIcmpv6, 24);
  store_checksum(icmp + 2, checksum_add(pseudo, icmp, 24));
  NdMessage back;
  ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
  EXPECT_EQ(back.kind, NdKind::kRouter);
}

TEST(NeighbourDiscovery, TheSolicitedNodeGroupHasTheLast24Bits) {
  Gid target{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0xAB, 0xCD, 0xEF}};
  const Gid group = solicited_node(target);
  EXPECT_EQ(group, (Gid{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xAB, 0xCD, 0xEF}}));
  EXPECT_EQ(multicast_mac(group), (MacAddress{{0x33, 0x33, 0xff, 0xAB, 0xCD, 0xEF}}));
}

}  // namespace
}  // namespace uroce::wire
