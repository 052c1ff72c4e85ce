// SPDX-License-Identifier: BSD-3-Clause
// MLD alone: hop limit, Router Alert and source. What it shares with IGMP: membership_test.
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
  const GroupRecord record{RecordType::kChangeToExclude, random.ipv6_group(), {}};
  uint8_t room[128];
  const uint32_t length = build_mld(room, {}, random.link_local(), report, {&record, 1});
  EXPECT_EQ(length, 14u + 40 + 8 + 8 + 20);
  EXPECT_EQ(load_mac(room), (MacAddress{{0x33, 0x33, 0, 0, 0, 0x16}}));
}

}  // namespace
}  // namespace uroce::wire
