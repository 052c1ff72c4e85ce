// SPDX-License-Identifier: BSD-3-Clause
// IGMP alone: reports byte for byte as Linux sends them, queriers without an address, version 1.
#include "group/igmp_host.h"

#include "group/group_host_fixture.h"

namespace uroce::group {
namespace {

// A report of Linux 6.1 (rxe, group joined by rdma_cm), from the Ethernet header on.
Bytes captured_report(uint8_t record_type, uint8_t checksum_high) {
  return {0x01, 0x00, 0x5e,        0x00, 0x00, 0x16, 0x02, 0xc6,          0x12, 0x00, 0x00,
          0x02, 0x08, 0x00,        0x46, 0xc0, 0x00, 0x28, 0x00,          0x00, 0x40, 0x00,
          0x01, 0x02, 0x3d,        0xe5, 0xc6, 0x12, 0x00, 0x02,          0xe0, 0x00, 0x00,
          0x16, 0x94, 0x04,        0x00, 0x00, 0x22, 0x00, checksum_high, 0xf9, 0x00, 0x00,
          0x00, 0x01, record_type, 0x00, 0x00, 0x00, 0xef, 0x01,          0x02, 0x03};
}

TEST(IgmpHost, JoinLinkUpAndLeaveAreReportedAsLinuxReportsThem_Case61) {
  IgmpHost host(host_config<IgmpCase>());
  ASSERT_TRUE(host.join(kStart, IgmpCase::kGroup));
  for (const auto& frame : run(host, kStart, kLater)) {
    EXPECT_EQ(frame.bytes, captured_report(4, 0xe8));
  }
  host.link_up(kLater);
  EXPECT_EQ(run(host, kLater, kMuchLater).at(0).bytes, captured_report(4, 0xe8));
  ASSERT_TRUE(host.leave(kMuchLater, IgmpCase::kGroup));
  for (const auto& frame : run(host, kMuchLater, kMuchLater + seconds(10))) {
    EXPECT_EQ(frame.bytes, captured_report(3, 0xe9));
  }
  EXPECT_EQ(host.counters().reports_sent.value(), 6u);
}

// The queries of a snooping bridge come from 0.0.0.0.
TEST(IgmpHost, AnswersAQuerierWithoutAddress) {
  IgmpHost host(host_config<IgmpCase>());
  host.join(kStart, IgmpCase::kGroup);
  run(host, kStart, kLater);
  ASSERT_EQ(give(host, kLater, query<IgmpCase>(Gid{}, Gid{}, 1000)), Drop::kNone);
  const auto sent = run(host, kLater, kMuchLater);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_GT(sent[0].at, kLater);
  EXPECT_LE(sent[0].at, kLater + seconds(1));
  const auto records = records_of<IgmpCase>(sent[0].bytes);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].type, RecordType::kModeIsExclude);
  EXPECT_EQ(records[0].group, IgmpCase::kGroup);
}

// Version 1 knows no leave: the routers find out by asking.
TEST(IgmpHost, LeavesAQuerierOfVersion1InSilence) {
  IgmpHost host(host_config<IgmpCase>());
  host.join(kStart, IgmpCase::kGroup);
  run(host, kStart, kLater);
  ASSERT_EQ(give(host, kLater, query<IgmpCase>(IgmpCase::kRouter, Gid{}, 0, {}, 1)), Drop::kNone);
  const auto sent = run(host, kLater, kLater + seconds(20));
  ASSERT_EQ(sent.size(), 1u);
  const auto message = parsed<IgmpCase>(sent[0].bytes);
  EXPECT_EQ(message.kind, MembershipKind::kReport);
  EXPECT_EQ(message.version, 1);
  host.leave(kLater + seconds(20), IgmpCase::kGroup);
  EXPECT_TRUE(run(host, kLater + seconds(20), kLater + seconds(60)).empty());
  EXPECT_EQ(host.poll_timeout(), kNever);
}

}  // namespace
}  // namespace uroce::group
