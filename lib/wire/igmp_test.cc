// SPDX-License-Identifier: BSD-3-Clause
// IGMP alone: a join as Linux sends it, unknown types. What it shares with MLD: membership_test.
#include "wire/igmp.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;

Drop parse_frame(std::span<const uint8_t> frame, MembershipMessage& out) {
  L3Info info;
  if (classify(frame, any_vlan(), info) != FrameKind::kIgmp) return info.not_roce;
  return parse_igmp(frame, info, any_vlan(), out);
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

TEST(Igmp, UnknownTypesAreMalformed) {
  uint8_t room[128];
  const uint32_t length = build_igmp(room, {}, 1, {}, {});
  uint8_t* igmp = room + length - 12;
  igmp[0] = 0x13;
  store_be16(igmp + 2, 0);
  store_checksum(igmp + 2, checksum_add(0, igmp, 12));
  MembershipMessage back;
  EXPECT_EQ(parse_frame({room, length}, back), Drop::kIgmpMalformed);
}

}  // namespace
}  // namespace uroce::wire
