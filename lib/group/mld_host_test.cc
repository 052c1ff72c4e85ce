// SPDX-License-Identifier: BSD-3-Clause
// MLDv2 reports byte for byte as Linux sends them, and answers to queries.
#include "group/mld_host.h"

#include <gtest/gtest.h>

#include <map>

#include "group/host_test.h"
#include "group/mgid.h"
#include "wire/mld.h"

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
constexpr Gid kLinkLocal{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xc6, 0x12, 0xff, 0xfe, 0, 0, 2}};
constexpr Gid kRouter{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr Gid kGroup{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3}};  // ff0e::1:2:3

HostConfig config() {
  HostConfig c;
  c.mac = kMac;
  c.address = kLinkLocal;
  c.seed = 7;
  return c;
}

// A leave of Linux 6.1 for one group, from the Ethernet header on.
const Bytes kCapturedLeave = {
    0x33, 0x33, 0x00, 0x00, 0x00, 0x16, 0x02, 0xc6, 0x12, 0x00, 0x00, 0x02, 0x86, 0xdd, 0x60,
    0x00, 0x00, 0x00, 0x00, 0x24, 0x00, 0x01, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0xc6, 0x12, 0xff, 0xfe, 0x00, 0x00, 0x02, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x16, 0x3a, 0x00, 0x05, 0x02, 0x00, 0x00,
    0x01, 0x00, 0x8f, 0x00, 0x5f, 0x31, 0x00, 0x00, 0x00, 0x01, 0x03, 0x00, 0x00, 0x00, 0xff,
    0x0e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03};

Bytes query(const Gid& source, const Gid& group, uint32_t max_response_ms) {
  MembershipMessage message;
  message.kind = MembershipKind::kQuery;
  message.version = 2;
  message.group = group;
  message.max_response_ms = max_response_ms;
  Bytes frame(512);
  frame.resize(wire::build_mld(frame, {kMac, false, 0}, source, message, {}));
  return frame;
}

std::vector<wire::GroupRecord> records_of(const Bytes& frame) {
  wire::ParseOptions options;
  wire::L3Info info;
  EXPECT_EQ(wire::classify(frame, options, info), wire::FrameKind::kMld);
  MembershipMessage message;
  EXPECT_EQ(wire::parse_mld(frame, info, options, message), Drop::kNone);
  std::vector<wire::GroupRecord> records;
  wire::GroupRecord record;
  auto rest = message.records;
  while (wire::next_record(rest, true, record)) records.push_back(record);
  EXPECT_EQ(records.size(), message.record_count);
  return records;
}

TEST(MldHost, JoinAndLeaveAreReportedAsLinuxReportsThem_Case61) {
  MldHost host(config());
  ASSERT_TRUE(host.join(kStart, kGroup));
  auto sent = run(host, kStart, kLater);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_LE(sent[1].at, kStart + seconds(1));
  for (const auto& frame : sent) {
    const auto records = records_of(frame.bytes);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].type, RecordType::kChangeToExclude);
    EXPECT_EQ(frame.bytes[21], 1);  // hop limit
  }
  ASSERT_TRUE(host.leave(kLater, kGroup));
  sent = run(host, kLater, kLater + seconds(10));
  ASSERT_EQ(sent.size(), 2u);
  for (const auto& frame : sent) EXPECT_EQ(frame.bytes, kCapturedLeave);
}

TEST(MldHost, AnswersGeneralAndGroupQueriesInTime) {
  MldHost host(config());
  host.join(kStart, kGroup);
  host.join(kStart, parse_mgid("ff1e::1:2").value());
  run(host, kStart, kLater);
  ASSERT_EQ(give(host, kLater, query(kRouter, Gid{}, 2000)), Drop::kNone);
  auto sent = run(host, kLater, kLater + seconds(10));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_LE(sent[0].at, kLater + seconds(2));
  EXPECT_EQ(records_of(sent[0].bytes).size(), 2u);
  ASSERT_EQ(give(host, kLater, query(kRouter, kGroup, 100)), Drop::kNone);
  sent = run(host, kLater, kLater + seconds(10));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_LE(sent[0].at, kLater + milliseconds(100));
  const auto records = records_of(sent[0].bytes);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].group, kGroup);
  EXPECT_EQ(records[0].type, RecordType::kModeIsExclude);
}

TEST(MldHost, QueryThatIsNotLinkLocalIsRefusedByName) {
  MldHost host(config());
  host.join(kStart, kGroup);
  run(host, kStart, kLater);
  const Gid global{{0xfd, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  EXPECT_EQ(give(host, kLater, query(global, Gid{}, 100)), Drop::kMldMalformed);
  Bytes frame = query(kRouter, Gid{}, 100);
  frame[frame.size() - 1] ^= 1;
  EXPECT_EQ(give(host, kLater, frame), Drop::kIcmpChecksum);
  EXPECT_EQ(host.poll_timeout(), kNever);
}

// 72 records of 20 bytes are what a 1500-byte packet holds beside 56 bytes of headers.
TEST(MldHost, ReportsAreSplitToTheMtu) {
  MldHost host(config());
  Gid group = kGroup;
  for (int i = 0; i < 150; ++i) {
    group.bytes[15] = static_cast<uint8_t>(i);
    host.join(kStart, group);
  }
  const auto sent = run(host, kStart, kStart);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].bytes.size(), 14u + 56 + 72 * 20);
  std::map<Gid, int> seen;
  for (const auto& frame : sent) {
    for (const auto& record : records_of(frame.bytes)) ++seen[record.group];
  }
  EXPECT_EQ(seen.size(), 150u);
}

TEST(MldHost, GroupsWithoutReportsAreTakenInSilence) {
  MldHost host(config());
  for (const char* text : {"ff02::1", "ff01::2", "ff10::5"}) {
    EXPECT_TRUE(host.join(kStart, parse_mgid(text).value())) << text;
    EXPECT_TRUE(run(host, kStart, kLater).empty()) << text;
    EXPECT_TRUE(host.leave(kLater, parse_mgid(text).value())) << text;
  }
  EXPECT_TRUE(run(host, kStart, kLater).empty());
  host.join(kStart, parse_mgid("ff02::2").value());
  EXPECT_EQ(run(host, kStart, kLater).size(), 2u);
}

TEST(MldHost, LinkUpReportsAllGroupsAgain) {
  MldHost host(config());
  host.join(kStart, kGroup);
  run(host, kStart, kLater);
  host.link_up(kLater);
  EXPECT_EQ(run(host, kLater, kLater + seconds(10)).size(), 2u);
}

}  // namespace
}  // namespace uroce::group
