// SPDX-License-Identifier: BSD-3-Clause
// IGMP: what is built parses back; versions told apart; damage refused by name.
#include "wire/igmp.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::Random;

Drop parse_frame(std::span<const uint8_t> frame, MembershipMessage& out) {
  L3Info info;
  if (classify(frame, any_vlan(), info) != FrameKind::kIgmp) return info.not_roce;
  return parse_igmp(frame, info, any_vlan(), out);
}

MembershipMessage random_message(Random& random, const std::vector<uint8_t>& sources) {
  MembershipMessage message;
  message.kind = static_cast<MembershipKind>(random.below(4));
  message.version = 2;
  if (message.kind == MembershipKind::kQuery) {
    message.version = static_cast<uint8_t>(1 + random.below(3));
    if (random.coin()) message.group = Gid::from_ipv4(0xE8000000 | random.below(1 << 24));
    message.max_response_ms = message.version == 1 ? 10000 : 100 * (1 + random.below(127));
    if (message.version == 3) {
      message.suppress_router = random.coin();
      message.robustness = static_cast<uint8_t>(random.below(8));
      message.query_interval_s = random.below(128);
      message.sources = sources;
    }
  } else if (message.kind == MembershipKind::kRecordReport) {
    message.version = 3;
  } else {
    message.group = Gid::from_ipv4(0xE8000000 | random.below(1 << 24));
    if (message.kind == MembershipKind::kReport && random.coin()) message.version = 1;
  }
  return message;
}

TEST(Igmp, WhatIsBuiltParsesBack) {
  Random random(21);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<uint8_t> sources = random.bytes(4 * random.below(4));
    const MembershipMessage message = random_message(random, sources);
    const GroupRecord records[] = {{RecordType::kChangeToExclude, random.ipv4(), {}},
                                   {RecordType::kModeIsInclude, random.ipv4(), sources}};
    const LinkSource link{random.mac(), random.coin(), static_cast<uint16_t>(random.below(4096))};
    uint8_t room[256];
    const uint32_t length = build_igmp(room, link, 0x0A000001, message, records);
    ASSERT_GT(length, 0u);
    MembershipMessage back;
    ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
    EXPECT_EQ(back.kind, message.kind);
    EXPECT_EQ(back.version, message.version);
    EXPECT_EQ(back.source, Gid::from_ipv4(0x0A000001));
    EXPECT_TRUE(back.destination.is_multicast());
    EXPECT_EQ(multicast_mac(back.destination), load_mac(room));
    EXPECT_EQ(back.group, message.group);
    EXPECT_EQ(back.max_response_ms, message.max_response_ms);
    EXPECT_EQ(back.suppress_router, message.suppress_router);
    EXPECT_EQ(back.robustness, message.robustness);
    EXPECT_EQ(back.query_interval_s, message.query_interval_s);
    EXPECT_EQ(back.sources.size(), message.sources.size());
    EXPECT_EQ(back.record_count, message.kind == MembershipKind::kRecordReport ? 2 : 0);
    room[length - 1] ^= 1;
    EXPECT_EQ(parse_frame({room, length}, back), Drop::kIgmpChecksum);
  }
}

TEST(Igmp, AJoinIsTheFrameThatLinuxSends) {
  // From the capture mcast-verbs-v4.
  const std::vector<uint8_t> expected = testing::from_hex(
      "01005e000016 02c612000002 0800 46c00028 0000 4000 0102 3de5 c6120002 e0000016 94040000 "
      "2200 e8f9 00000001 04000000 ef010203");
  MembershipMessage message;
  message.kind = MembershipKind::kRecordReport;
  const GroupRecord record{RecordType::kChangeToExclude, Gid::from_ipv4(0xEF010203), {}};
  uint8_t room[128];
  const LinkSource link{{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x02}}, false, 0};
  const uint32_t length = build_igmp(room, link, 0xC6120002, message, {&record, 1});
  std::vector<uint8_t> built(room, room + length);
  EXPECT_EQ(built, expected);
}

TEST(Igmp, CutMessagesAndUnknownTypesAreMalformed) {
  Random random(22);
  MembershipMessage message;
  message.kind = MembershipKind::kRecordReport;
  const GroupRecord record{RecordType::kChangeToExclude, random.ipv4(), {}};
  uint8_t room[128];
  const uint32_t length = build_igmp(room, {}, 1, message, {&record, 1});
  uint8_t* igmp = room + length - 16;
  const auto refit = [&] {
    store_be16(igmp + 2, 0);
    store_checksum(igmp + 2, checksum_add(0, igmp, 16));
  };
  MembershipMessage back;
  store_be16(igmp + 6, 2);  // two records claimed, one there
  refit();
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kIgmpMalformed);
  store_be16(igmp + 6, 1);
  store_be16(igmp + 10, 1);  // one source claimed, none there
  refit();
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kIgmpMalformed);
  igmp[0] = 0x13;
  refit();
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kIgmpMalformed);
  igmp[0] = 0x11;  // a query of 16 bytes that claims more sources than fit
  store_be16(igmp + 10, 2);
  refit();
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kIgmpMalformed);
}

TEST(Igmp, ARoomTooSmallIsSaid) {
  uint8_t room[40];
  EXPECT_EQ(build_igmp(room, {}, 1, {}, {}), 0u);
}

}  // namespace
}  // namespace uroce::wire
