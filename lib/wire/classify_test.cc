// SPDX-License-Identifier: BSD-3-Clause
// Telling frames apart, and the VLAN that a port belongs to.
#include <gtest/gtest.h>

#include "wire/arp.h"
#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::frame_of;
using testing::kL3;

L3Info classified(const std::vector<uint8_t>& frame, const ParseOptions& options = {}) {
  L3Info info;
  EXPECT_EQ(classify(frame, options, info), info.kind);
  return info;
}

std::vector<uint8_t> tagged(const std::vector<uint8_t>& frame, uint16_t tci,
                            uint16_t tpid = kEthertypeVlan) {
  std::vector<uint8_t> result(frame.size() + kVlanTagBytes);
  std::copy_n(frame.begin(), 12, result.begin());
  std::copy(frame.begin() + 12, frame.end(), result.begin() + 16);
  store_be16(result.data() + 12, tpid);
  store_be16(result.data() + 14, tci);
  return result;
}

// Case 74: RoCEv1 is dropped by name.
TEST(Classify, RoceArpAndStrangers) {
  EXPECT_EQ(classified(frame_of(testing::kV1)).kind, FrameKind::kRoce);
  EXPECT_EQ(classified(frame_of(testing::kV1)).l4_offset, kL3 + 20);
  EXPECT_EQ(classified(frame_of(testing::kV3)).kind, FrameKind::kRoce);
  EXPECT_EQ(classified(frame_of(testing::kV3)).l4_offset, kL3 + 40);
  std::vector<uint8_t> frame(60);
  store_ethernet(frame.data(), {}, kEthertypeArp);
  EXPECT_EQ(classified(frame).kind, FrameKind::kArp);
  store_ethernet(frame.data(), {}, kEthertypeRocev1);
  EXPECT_EQ(classified(frame).not_roce, Drop::kRocev1);
  store_ethernet(frame.data(), {}, 0x88CC);
  EXPECT_EQ(classified(frame).kind, FrameKind::kOther);
  EXPECT_EQ(classified(frame).not_roce, Drop::kEthertype);
  EXPECT_EQ(classified({}).not_roce, Drop::kEmptyFrame);
  EXPECT_EQ(classified(std::vector<uint8_t>(13)).not_roce, Drop::kFrameShort);
}

TEST(Classify, Ipv6ExtensionsAreNamed) {
  std::vector<uint8_t> frame = frame_of(testing::kV3);
  frame[kL3 + 6] = 43;
  EXPECT_EQ(classified(frame).not_roce, Drop::kIpv6Extension);
  frame[kL3 + 6] = 44;
  EXPECT_EQ(classified(frame).not_roce, Drop::kIpFragment);
  frame[kL3 + 6] = 0;  // hop-by-hop, then something that is not ICMPv6
  EXPECT_EQ(classified(frame).not_roce, Drop::kIpv6Extension);
  frame[kL3 + 6] = 6;
  EXPECT_EQ(classified(frame).not_roce, Drop::kIpProtocol);
}

TEST(Classify, Icmpv6TypesGoToTheirRooms) {
  std::vector<uint8_t> frame = frame_of(testing::kV3);
  frame[kL3 + 6] = kProtocolIcmpv6;
  const auto kind = [&](uint8_t type) {
    frame[kL3 + 40] = type;
    return classified(frame).kind;
  };
  EXPECT_EQ(kind(128), FrameKind::kIcmpv6);
  EXPECT_EQ(kind(2), FrameKind::kIcmpv6);
  for (uint8_t type = 133; type <= 137; ++type) EXPECT_EQ(kind(type), FrameKind::kNd);
  for (uint8_t type = 130; type <= 132; ++type) EXPECT_EQ(kind(type), FrameKind::kMld);
  EXPECT_EQ(kind(143), FrameKind::kMld);
}

// Case 76.
TEST(Classify, APortOfAVlanTakesItsTagOnly) {
  const std::vector<uint8_t> plain = frame_of(testing::kV1);
  ParseOptions vlan7;
  vlan7.vlan_id = 7;
  EXPECT_EQ(classified(plain, vlan7).not_roce, Drop::kVlan);
  EXPECT_EQ(classified(tagged(plain, 8), vlan7).not_roce, Drop::kVlan);
  const L3Info info = classified(tagged(plain, 0x6007), vlan7);
  EXPECT_EQ(info.kind, FrameKind::kRoce);
  EXPECT_EQ(info.vlan_tci, 0x6007);
  EXPECT_EQ(info.l3_offset, 18u);
  ParsedFrame packet;
  const std::vector<uint8_t> frame = tagged(plain, 7);
  ASSERT_EQ(parse_roce(frame, vlan7, packet), Drop::kNone);
  EXPECT_TRUE(packet.has_vlan);
  EXPECT_TRUE(icrc_ok(packet)) << "the tag is not covered";
}

TEST(Classify, APortWithoutVlanTakesUntaggedFramesAndPriorityTags) {
  const std::vector<uint8_t> plain = frame_of(testing::kV1);
  EXPECT_EQ(classified(tagged(plain, 0xE000)).kind, FrameKind::kRoce);
  EXPECT_EQ(classified(tagged(plain, 5)).not_roce, Drop::kVlan);
  EXPECT_EQ(classified(tagged(plain, 5), testing::any_vlan()).kind, FrameKind::kRoce);
}

// Case 76.
TEST(Classify, AStrippedTagCountsAsTheFrames) {
  const std::vector<uint8_t> plain = frame_of(testing::kV1);
  ParseOptions options;
  options.vlan_id = 7;
  options.vlan_stripped = true;
  options.vlan_tci = 0x2007;
  EXPECT_EQ(classified(plain, options).kind, FrameKind::kRoce);
  EXPECT_EQ(classified(plain, options).vlan_tci, 0x2007);
  options.vlan_tci = 9;
  EXPECT_EQ(classified(plain, options).not_roce, Drop::kVlan);
  options.vlan_tci = 7;
  EXPECT_EQ(classified(tagged(plain, 7), options).not_roce, Drop::kVlan) << "two tags";
}

// Case 76.
TEST(Classify, TwoTagsAreRefused) {
  const std::vector<uint8_t> twice = tagged(tagged(frame_of(testing::kV1), 7), 7);
  EXPECT_EQ(classified(twice, testing::any_vlan()).not_roce, Drop::kVlan);
  const std::vector<uint8_t> service = tagged(frame_of(testing::kV1), 7, kEthertypeServiceVlan);
  EXPECT_EQ(classified(service, testing::any_vlan()).not_roce, Drop::kVlan);
}

}  // namespace
}  // namespace uroce::wire
