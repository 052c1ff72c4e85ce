// SPDX-License-Identifier: BSD-3-Clause
// MLD: what is built parses back; hop limit, Router Alert and source are demanded.
#include "wire/mld.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::Random;

Drop parse_frame(std::span<const uint8_t> frame, MembershipMessage& out) {
  L3Info info;
  if (classify(frame, any_vlan(), info) != FrameKind::kMld) return info.not_roce;
  return parse_mld(frame, info, any_vlan(), out);
}

Gid random_group(Random& random) {
  Gid group = random.ipv6();
  group.bytes[0] = 0xff;
  group.bytes[1] = 0x0e;
  return group;
}

MembershipMessage random_message(Random& random, const std::vector<uint8_t>& sources) {
  MembershipMessage message;
  message.kind = static_cast<MembershipKind>(random.below(4));
  message.version = 1;
  if (message.kind == MembershipKind::kQuery) {
    message.version = static_cast<uint8_t>(1 + random.below(2));
    if (random.coin()) message.group = random_group(random);
    message.max_response_ms = random.below(32768);
    if (message.version == 2) {
      message.suppress_router = random.coin();
      message.robustness = static_cast<uint8_t>(random.below(8));
      message.query_interval_s = random.below(128);
      message.sources = sources;
    }
  } else if (message.kind == MembershipKind::kRecordReport) {
    message.version = 2;
  } else {
    message.group = random_group(random);
  }
  return message;
}

TEST(Mld, WhatIsBuiltParsesBack) {
  Random random(23);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<uint8_t> sources = random.bytes(16 * random.below(4));
    const MembershipMessage message = random_message(random, sources);
    const GroupRecord records[] = {{RecordType::kChangeToExclude, random_group(random), {}},
                                   {RecordType::kModeIsInclude, random_group(random), sources}};
    const Gid source = random.link_local();
    const LinkSource link{random.mac(), random.coin(), static_cast<uint16_t>(random.below(4096))};
    uint8_t room[512];
    const uint32_t length = build_mld(room, link, source, message, records);
    ASSERT_GT(length, 0u);
    MembershipMessage back;
    ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
    EXPECT_EQ(back.kind, message.kind);
    EXPECT_EQ(back.version, message.version);
    EXPECT_EQ(back.source, source);
    EXPECT_EQ(multicast_mac(back.destination), load_mac(room));
    EXPECT_EQ(back.group, message.group);
    EXPECT_EQ(back.max_response_ms, message.max_response_ms);
    EXPECT_EQ(back.suppress_router, message.suppress_router);
    EXPECT_EQ(back.robustness, message.robustness);
    EXPECT_EQ(back.query_interval_s, message.query_interval_s);
    EXPECT_EQ(back.sources.size(), message.sources.size());
    EXPECT_EQ(back.record_count, message.kind == MembershipKind::kRecordReport ? 2 : 0);
    room[length - 1] ^= 1;
    EXPECT_EQ(parse_frame({room, length}, back), Drop::kIcmpChecksum);
  }
}

TEST(Mld, HopLimitRouterAlertAndSourceAreDemanded) {
  Random random(24);
  MembershipMessage query;
  query.version = 2;
  uint8_t room[128];
  const uint32_t length = build_mld(room, {}, random.link_local(), query, {});
  MembershipMessage back;
  ASSERT_EQ(parse_frame({room, length}, back), Drop::kNone);
  room[kEthernetBytes + 7] = 2;
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kMldMalformed);
  room[kEthernetBytes + 7] = 1;
  room[kEthernetBytes + kIpv6Bytes + 2] = 1;  // padding in place of Router Alert
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kMldMalformed);
  build_mld(room, {}, random.ipv6(), query, {});
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kMldMalformed) << "not link-local";
  build_mld(room, {}, Gid{}, query, {});
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kMldMalformed) << "a query from nobody";
  MembershipMessage report;
  report.kind = MembershipKind::kRecordReport;
  const uint32_t bytes = build_mld(room, {}, Gid{}, report, {});
  EXPECT_EQ(parse_frame({room, bytes}, back), Drop::kNone) << "before an address is tested";
}

TEST(Mld, ALeaveIsTheFrameThatLinuxSends) {
  // The last frame of the capture mcast-verbs-v6.
  const std::vector<uint8_t> expected = testing::from_hex(
      "333300000016 02c612000002 86dd 60000000 0024 00 01 fe8000000000000000c612fffe000002 "
      "ff020000000000000000000000000016 3a00 0502 0000 0100 8f00 5f31 00000001 "
      "03000000 ff0e0000000000000000000100020003");
  MembershipMessage message;
  message.kind = MembershipKind::kRecordReport;
  const Gid group{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3}};
  const GroupRecord record{RecordType::kChangeToInclude, group, {}};
  const Gid source{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xc6, 0x12, 0xff, 0xfe, 0, 0, 2}};
  uint8_t room[128];
  const LinkSource link{{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x02}}, false, 0};
  const uint32_t length = build_mld(room, link, source, message, {&record, 1});
  EXPECT_EQ(std::vector<uint8_t>(room, room + length), expected);
}

TEST(Mld, AllRoutersGetTheReportOfVersion2) {
  MembershipMessage report;
  report.kind = MembershipKind::kRecordReport;
  Random random(25);
  const GroupRecord record{RecordType::kChangeToExclude, random_group(random), {}};
  uint8_t room[128];
  const uint32_t length = build_mld(room, {}, random.link_local(), report, {&record, 1});
  EXPECT_EQ(length, 14u + 40 + 8 + 8 + 20);
  EXPECT_EQ(load_mac(room), (MacAddress{{0x33, 0x33, 0, 0, 0, 0x16}}));
}

TEST(Mld, ARoomTooSmallIsSaid) {
  uint8_t room[80];
  EXPECT_EQ(build_mld(room, {}, {}, {}, {}), 0u);
}

}  // namespace
}  // namespace uroce::wire
