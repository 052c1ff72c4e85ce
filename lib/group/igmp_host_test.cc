// SPDX-License-Identifier: BSD-3-Clause
// IGMPv3 reports byte for byte as Linux sends them, and answers to queries.
#include "group/igmp_host.h"

#include <gtest/gtest.h>

#include <map>

#include "group/host_test.h"
#include "wire/igmp.h"

namespace uroce::group {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Drop;
using wire::MembershipKind;
using wire::MembershipMessage;
using wire::RecordType;

constexpr Time kStart{seconds(1)};
constexpr Time kLater = kStart + seconds(10);
constexpr MacAddress kMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x02}};
constexpr MacAddress kRouterMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x99}};
constexpr Gid kGroup = Gid::from_ipv4(0xEF010203);  // 239.1.2.3

HostConfig config() {
  HostConfig c;
  c.mac = kMac;
  c.address = Gid::from_ipv4(0xC6120002);  // 198.18.0.2
  c.seed = 7;
  return c;
}

// A report of Linux 6.1 (rxe, group joined by rdma_cm), from the Ethernet header on.
Bytes captured_report(uint8_t record_type, uint8_t checksum_high) {
  return {0x01, 0x00, 0x5e,        0x00, 0x00, 0x16, 0x02, 0xc6,          0x12, 0x00, 0x00,
          0x02, 0x08, 0x00,        0x46, 0xc0, 0x00, 0x28, 0x00,          0x00, 0x40, 0x00,
          0x01, 0x02, 0x3d,        0xe5, 0xc6, 0x12, 0x00, 0x02,          0xe0, 0x00, 0x00,
          0x16, 0x94, 0x04,        0x00, 0x00, 0x22, 0x00, checksum_high, 0xf9, 0x00, 0x00,
          0x00, 0x01, record_type, 0x00, 0x00, 0x00, 0xef, 0x01,          0x02, 0x03};
}

Bytes query(uint32_t source, const Gid& group, uint32_t max_response_ms, uint8_t version = 3,
            std::span<const uint8_t> sources = {}) {
  MembershipMessage message;
  message.kind = MembershipKind::kQuery;
  message.version = version;
  message.group = group;
  message.max_response_ms = max_response_ms;
  message.sources = sources;
  Bytes frame(512);
  const wire::LinkSource link{kRouterMac, false, 0};
  frame.resize(wire::build_igmp(frame, link, source, message, {}));
  return frame;
}

// The records of a report; the frame must be one.
std::vector<wire::GroupRecord> records_of(const Bytes& frame) {
  wire::ParseOptions options;
  options.vlan_id = wire::kVlanAny;
  wire::L3Info info;
  EXPECT_EQ(wire::classify(frame, options, info), wire::FrameKind::kIgmp);
  MembershipMessage message;
  EXPECT_EQ(wire::parse_igmp(frame, info, options, message), Drop::kNone);
  EXPECT_EQ(message.kind, MembershipKind::kRecordReport);
  std::vector<wire::GroupRecord> records;
  wire::GroupRecord record;
  auto rest = message.records;
  while (wire::next_record(rest, false, record)) records.push_back(record);
  EXPECT_EQ(records.size(), message.record_count);
  return records;
}

TEST(IgmpHost, JoinAndLeaveAreReportedAsLinuxReportsThem_Case61) {
  IgmpHost host(config());
  ASSERT_TRUE(host.join(kStart, kGroup));
  auto sent = run(host, kStart, kLater);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].at, kStart);
  EXPECT_LE(sent[1].at, kStart + seconds(1));
  for (const auto& frame : sent) EXPECT_EQ(frame.bytes, captured_report(4, 0xe8));
  ASSERT_TRUE(host.leave(kLater, kGroup));
  sent = run(host, kLater, kLater + seconds(10));
  ASSERT_EQ(sent.size(), 2u);
  for (const auto& frame : sent) EXPECT_EQ(frame.bytes, captured_report(3, 0xe9));
  EXPECT_EQ(host.poll_timeout(), kNever);
}

TEST(IgmpHost, SecondMemberOfThisHostSendsNothing_Case61) {
  IgmpHost host(config());
  host.join(kStart, kGroup);
  run(host, kStart, kLater);
  EXPECT_TRUE(host.join(kLater, kGroup));
  EXPECT_TRUE(run(host, kLater, kLater + seconds(10)).empty());
}

// The queries of a snooping bridge come from 0.0.0.0.
TEST(IgmpHost, AnswersAQuerierWithoutAddress) {
  IgmpHost host(config());
  host.join(kStart, kGroup);
  run(host, kStart, kLater);
  ASSERT_EQ(give(host, kLater, query(0, Gid{}, 1000)), Drop::kNone);
  const auto sent = run(host, kLater, kLater + seconds(10));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_GT(sent[0].at, kLater);
  EXPECT_LE(sent[0].at, kLater + seconds(1));
  const auto records = records_of(sent[0].bytes);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].type, RecordType::kModeIsExclude);
  EXPECT_EQ(records[0].group, kGroup);
}

TEST(IgmpHost, AnswersAQueryForAGroupAndForItsSources) {
  IgmpHost host(config());
  host.join(kStart, kGroup);
  host.join(kStart, Gid::from_ipv4(0xEF000001));
  run(host, kStart, kLater);
  const uint8_t source[] = {10, 0, 0, 9};
  for (const Bytes& asked :
       {query(0xC6120001, kGroup, 200), query(0xC6120001, kGroup, 200, 3, source)}) {
    ASSERT_EQ(give(host, kLater, asked), Drop::kNone);
    const auto sent = run(host, kLater, kLater + seconds(10));
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_LE(sent[0].at, kLater + milliseconds(200));
    const auto records = records_of(sent[0].bytes);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].group, kGroup);
  }
  EXPECT_EQ(host.counters().queries_received.value(), 2u);
}

TEST(IgmpHost, QueryForAGroupOfOthersAndWithoutAnyGroupDrawsNothing) {
  IgmpHost host(config());
  ASSERT_EQ(give(host, kStart, query(0, Gid{}, 1000)), Drop::kNone);
  ASSERT_EQ(give(host, kStart, query(0, kGroup, 1000)), Drop::kNone);
  EXPECT_TRUE(run(host, kStart, kLater).empty());
}

// 183 records of 8 bytes are what a 1500-byte packet holds beside 32 bytes of headers.
TEST(IgmpHost, ReportsAreSplitToTheMtu) {
  IgmpHost host(config());
  for (uint32_t i = 0; i < 400; ++i) host.join(kStart, Gid::from_ipv4(0xEF000100 + i));
  const auto sent = run(host, kStart, kStart);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].bytes.size(), 14u + 32 + 183 * 8);
  EXPECT_LE(sent[0].bytes.size(), 14u + 1500);
  std::map<Gid, int> seen;
  for (const auto& frame : sent) {
    for (const auto& record : records_of(frame.bytes)) ++seen[record.group];
  }
  EXPECT_EQ(seen.size(), 400u);
  EXPECT_EQ(host.counters().records_sent.value(), 400u);
}

TEST(IgmpHost, SmallSlotHoldsFewerRecordsAndLosesNone) {
  IgmpHost host(config());
  for (uint32_t i = 0; i < 60; ++i) host.join(kStart, Gid::from_ipv4(0xEF000100 + i));
  size_t records = 0;
  for (const auto& frame : run(host, kStart, kStart, 256)) {
    EXPECT_LE(frame.bytes.size(), 256u);
    records += records_of(frame.bytes).size();
  }
  EXPECT_EQ(records, 60u);
}

TEST(IgmpHost, LinkUpReportsAllGroupsAgain) {
  IgmpHost host(config());
  host.join(kStart, kGroup);
  run(host, kStart, kLater);
  host.link_up(kLater);
  const auto sent = run(host, kLater, kLater + seconds(10));
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].bytes, captured_report(4, 0xe8));
}

TEST(IgmpHost, TagsReportsAndUsesTheAddressThatCameLater) {
  HostConfig c = config();
  c.vlan_id = 100;
  c.address = Gid{};
  IgmpHost host(c);
  host.join(kStart, kGroup);
  const Bytes without = run(host, kStart, kStart).at(0).bytes;
  EXPECT_EQ(load_be32(without.data() + 12), 0x81000064u);
  EXPECT_EQ(load_be32(without.data() + 18 + 12), 0u);  // source 0.0.0.0
  host.set_address(config().address);
  const Bytes with = run(host, kLater, kLater).at(0).bytes;
  EXPECT_EQ(load_be32(with.data() + 18 + 12), 0xC6120002u);
}

TEST(IgmpHost, AllHostsGroupIsTakenInSilence) {
  IgmpHost host(config());
  EXPECT_TRUE(host.join(kStart, Gid::from_ipv4(0xE0000001)));
  EXPECT_TRUE(run(host, kStart, kLater).empty());
  EXPECT_TRUE(host.leave(kLater, Gid::from_ipv4(0xE0000001)));
  EXPECT_TRUE(run(host, kLater, kLater + seconds(10)).empty());
}

TEST(IgmpHost, RefusesBadFramesByNameAndIgnoresReportsOfOthers) {
  IgmpHost host(config());
  host.join(kStart, kGroup);
  run(host, kStart, kLater);
  Bytes frame = query(0, Gid{}, 1000);
  frame.back() ^= 1;
  EXPECT_EQ(give(host, kLater, frame), Drop::kIgmpChecksum);
  frame = query(0, Gid{}, 1000);
  frame.resize(frame.size() - 8);
  EXPECT_EQ(give(host, kLater, frame), Drop::kFrameCut);
  EXPECT_EQ(give(host, kLater, captured_report(4, 0xe8)), Drop::kNone);
  EXPECT_EQ(host.poll_timeout(), kNever);
}

}  // namespace
}  // namespace uroce::group
