// SPDX-License-Identifier: BSD-3-Clause
// What a host of either protocol does: changes twice, answers in time, full frames, silence, and
// the versions of others.
#include "group/group_host.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "group/group_host_fixture.h"

namespace uroce::group {
namespace {

template <typename Case>
class GroupHostTest : public testing::Test {
 protected:
  // A host that has joined the case's group and reported it.
  typename Case::Host& joined() {
    EXPECT_TRUE(host_.join(kStart, Case::kGroup));
    run(host_, kStart, kLater);
    return host_;
  }
  typename Case::Host host_{host_config<Case>()};
};

struct CaseName {
  template <typename Case>
  static std::string GetName(int) {
    return Case::kIpv6 ? "Mld" : "Igmp";
  }
};
using BothProtocols = testing::Types<IgmpCase, MldCase>;
TYPED_TEST_SUITE(GroupHostTest, BothProtocols, CaseName);

TYPED_TEST(GroupHostTest, JoinAndLeaveAreReportedTwice_Case61) {
  auto& host = this->host_;
  ASSERT_TRUE(host.join(kStart, TypeParam::kGroup));
  const auto expect = [&](Time from, RecordType type) {
    const auto sent = run(host, from, from + seconds(10));
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].at, from);
    EXPECT_LE(sent[1].at, from + seconds(1));
    for (const auto& frame : sent) {
      const auto records = records_of<TypeParam>(frame.bytes);
      ASSERT_EQ(records.size(), 1u);
      EXPECT_EQ(records[0].type, type);
      EXPECT_EQ(records[0].group, TypeParam::kGroup);
    }
  };
  expect(kStart, RecordType::kChangeToExclude);
  ASSERT_TRUE(host.leave(kLater, TypeParam::kGroup));
  expect(kLater, RecordType::kChangeToInclude);
  EXPECT_EQ(host.poll_timeout(), kNever);
}

TYPED_TEST(GroupHostTest, SecondMemberOfThisHostSendsNothing_Case61) {
  auto& host = this->joined();
  EXPECT_TRUE(host.join(kLater, TypeParam::kGroup));
  EXPECT_TRUE(run(host, kLater, kMuchLater).empty());
}

TYPED_TEST(GroupHostTest, AnswersAGeneralQueryForAllGroupsInTime) {
  auto& host = this->joined();
  host.join(kLater, TypeParam::group(1));
  run(host, kLater, kMuchLater);
  ASSERT_EQ(give(host, kMuchLater, query<TypeParam>(TypeParam::kRouter, Gid{}, 2000)), Drop::kNone);
  const auto sent = run(host, kMuchLater, kMuchLater + seconds(10));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_GT(sent[0].at, kMuchLater);
  EXPECT_LE(sent[0].at, kMuchLater + seconds(2));
  const auto records = records_of<TypeParam>(sent[0].bytes);
  ASSERT_EQ(records.size(), 2u);
  for (const auto& record : records) EXPECT_EQ(record.type, RecordType::kModeIsExclude);
}

TYPED_TEST(GroupHostTest, AnswersAQueryForAGroupAndForItsSources) {
  auto& host = this->joined();
  host.join(kLater, TypeParam::group(1));
  run(host, kLater, kMuchLater);
  const Bytes source = TypeParam::asked_source();
  const Bytes none;
  for (const Bytes& asked : {none, source}) {
    const Bytes frame = query<TypeParam>(TypeParam::kRouter, TypeParam::kGroup, 200, asked);
    ASSERT_EQ(give(host, kMuchLater, frame), Drop::kNone);
    const auto sent = run(host, kMuchLater, kMuchLater + seconds(10));
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_LE(sent[0].at, kMuchLater + milliseconds(200));
    const auto records = records_of<TypeParam>(sent[0].bytes);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].group, TypeParam::kGroup);
    EXPECT_EQ(records[0].type,
              asked.empty() ? RecordType::kModeIsExclude : RecordType::kModeIsInclude);
    EXPECT_EQ(Bytes(records[0].sources.begin(), records[0].sources.end()), asked);
  }
  EXPECT_EQ(host.counters().queries_received.value(), 2u);
}

TYPED_TEST(GroupHostTest, QueryForAGroupOfOthersAndWithoutAnyGroupDrawsNothing) {
  auto& host = this->host_;
  for (const Gid& group : {Gid{}, TypeParam::kGroup}) {
    ASSERT_EQ(give(host, kStart, query<TypeParam>(TypeParam::kRouter, group, 1000)), Drop::kNone);
  }
  EXPECT_TRUE(run(host, kStart, kLater).empty());
}

TYPED_TEST(GroupHostTest, ReportsAreSplitToTheMtu) {
  auto& host = this->host_;
  const uint32_t count = 2 * TypeParam::kRecordsOfAnEthernetFrame + 6;
  for (uint32_t i = 0; i < count; ++i) host.join(kStart, TypeParam::group(i));
  const auto sent = run(host, kStart, kStart);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].bytes.size(), TypeParam::kFrameBytesMax);
  EXPECT_LE(sent[0].bytes.size(), 14u + 1500);
  std::map<Gid, int> seen;
  for (const auto& frame : sent) {
    for (const auto& record : records_of<TypeParam>(frame.bytes)) ++seen[record.group];
  }
  EXPECT_EQ(seen.size(), count);
  EXPECT_EQ(host.counters().reports_sent.value(), 3u);
  EXPECT_EQ(host.counters().records_sent.value(), count);
}

TYPED_TEST(GroupHostTest, SmallSlotHoldsFewerRecordsAndLosesNone) {
  auto& host = this->host_;
  for (uint32_t i = 0; i < 60; ++i) host.join(kStart, TypeParam::group(i));
  size_t records = 0;
  for (const auto& frame : run(host, kStart, kStart, 256)) {
    EXPECT_LE(frame.bytes.size(), 256u);
    records += records_of<TypeParam>(frame.bytes).size();
  }
  EXPECT_EQ(records, 60u);
}

TYPED_TEST(GroupHostTest, LinkUpReportsAllGroupsAgain) {
  auto& host = this->joined();
  host.link_up(kLater);
  const auto sent = run(host, kLater, kMuchLater);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(records_of<TypeParam>(sent[0].bytes).at(0).type, RecordType::kChangeToExclude);
}

// Both versions of a source: as a filter has it, and as it lies in a record.
template <typename Case>
std::pair<Gid, Bytes> numbered_source(uint32_t number) {
  Bytes wire = Case::asked_source();
  store_be32(wire.data() + wire.size() - 4, 0x0A000000 + number);
  return {wire::load_address(wire.data(), Case::kIpv6), wire};
}

TYPED_TEST(GroupHostTest, AFilterOfSourcesIsReportedAndAnswered) {
  auto& host = this->host_;
  const auto [wanted, wire] = numbered_source<TypeParam>(9);
  const auto [other, other_wire] = numbered_source<TypeParam>(8);
  ASSERT_TRUE(host.set_filter(kStart, TypeParam::kGroup, {FilterMode::kInclude, {&wanted, 1}}));
  const auto expect = [&](Time from, RecordType type, size_t frames) {
    const auto sent = run(host, from, from + seconds(10));
    ASSERT_EQ(sent.size(), frames);
    for (const auto& frame : sent) {
      const auto records = records_of<TypeParam>(frame.bytes);
      ASSERT_EQ(records.size(), 1u);
      EXPECT_EQ(records[0].type, type);
      EXPECT_EQ(Bytes(records[0].sources.begin(), records[0].sources.end()), wire);
    }
  };
  expect(kStart, RecordType::kAllowNewSources, 2);
  Bytes asked = other_wire;
  asked.insert(asked.end(), wire.begin(), wire.end());
  give(host, kLater, query<TypeParam>(TypeParam::kRouter, TypeParam::kGroup, 200, asked));
  expect(kLater, RecordType::kModeIsInclude, 1);
  give(host, kLater, query<TypeParam>(TypeParam::kRouter, TypeParam::kGroup, 200, other_wire));
  EXPECT_TRUE(run(host, kLater, kMuchLater).empty()) << "nothing is wanted from there";
  ASSERT_TRUE(host.leave(kMuchLater, TypeParam::kGroup));
  expect(kMuchLater, RecordType::kBlockOldSources, 2);
}

TYPED_TEST(GroupHostTest, ThousandsOfSourcesAreSplitToTheMtu) {
  auto& host = this->host_;
  std::vector<Gid> sources;
  sources.reserve(3000);
  for (uint32_t i = 0; i < 3000; ++i) sources.push_back(numbered_source<TypeParam>(i).first);
  ASSERT_TRUE(host.set_filter(kStart, TypeParam::kGroup, {FilterMode::kInclude, sources}));
  std::set<Bytes> told;
  for (const auto& frame : run(host, kStart, kStart)) {
    EXPECT_LE(frame.bytes.size(), 14u + 1500);
    for (auto& record : records_of<TypeParam>(frame.bytes)) {
      const size_t bytes = TypeParam::asked_source().size();
      for (; !record.sources.empty(); record.sources = record.sources.subspan(bytes)) {
        told.insert(Bytes(record.sources.begin(), record.sources.begin() + long(bytes)));
      }
    }
  }
  EXPECT_EQ(told.size(), 3000u);
}

// A querier that knows no sources is told of a member, and of the sources when it is gone.
TYPED_TEST(GroupHostTest, AFilterOfSourcesIsAJoinToAnOlderQuerier) {
  auto& host = this->host_;
  constexpr uint8_t kOlder = TypeParam::kVersion - 1;
  const Gid wanted = numbered_source<TypeParam>(9).first;
  give(host, kStart, query<TypeParam>(TypeParam::kRouter, Gid{}, 1000, {}, kOlder));
  ASSERT_TRUE(host.set_filter(kStart, TypeParam::kGroup, {FilterMode::kInclude, {&wanted, 1}}));
  const auto sent = run(host, kStart, kStart + seconds(20));
  ASSERT_GE(sent.size(), 2u);
  EXPECT_EQ(parsed<TypeParam>(sent[0].bytes).kind, MembershipKind::kReport);
  const Time silent = kStart + seconds(2 * 125 + 5);
  give(host, silent, query<TypeParam>(TypeParam::kRouter, Gid{}, 1000));
  const auto answer = run(host, silent, silent + seconds(1));
  ASSERT_EQ(answer.size(), 1u);
  const auto records = records_of<TypeParam>(answer[0].bytes);
  EXPECT_EQ(records.at(0).type, RecordType::kModeIsInclude);
  EXPECT_EQ(records.at(0).sources.size(), TypeParam::asked_source().size());
}

TYPED_TEST(GroupHostTest, TagsReportsAndUsesTheAddressThatCameLater) {
  HostConfig config = host_config<TypeParam>();
  config.vlan_id = 100;
  config.address = Gid{};
  typename TypeParam::Host host(config);
  host.join(kStart, TypeParam::kGroup);
  const Bytes without = run(host, kStart, kStart).at(0).bytes;
  EXPECT_EQ(load_be32(without.data() + 12), 0x81000064u);
  const Gid none = TypeParam::kIpv6 ? Gid{} : Gid::from_ipv4(0);
  EXPECT_EQ(TypeParam::source_of(without.data() + 18), none);
  host.set_address(TypeParam::kOwn);
  const Bytes with = run(host, kLater, kLater).at(0).bytes;
  EXPECT_EQ(TypeParam::source_of(with.data() + 18), TypeParam::kOwn);
}

TYPED_TEST(GroupHostTest, GroupsWithoutReportsAreTakenInSilence) {
  auto& host = this->host_;
  for (const Gid& group : TypeParam::unreported_groups()) {
    EXPECT_TRUE(host.join(kStart, group));
    EXPECT_TRUE(run(host, kStart, kLater).empty());
    EXPECT_TRUE(host.leave(kLater, group));
  }
  EXPECT_TRUE(run(host, kLater, kMuchLater).empty());
  // The next group, 224.0.0.2 or ff02::2, is one as any other.
  Gid reported = TypeParam::unreported_groups()[0];
  reported.bytes[15] = 2;
  host.join(kLater, reported);
  EXPECT_EQ(run(host, kLater, kMuchLater).size(), 2u);
}

TYPED_TEST(GroupHostTest, RefusesBadFramesByNameAndIgnoresReportsOfOthers) {
  auto& host = this->host_;
  host.join(kStart, TypeParam::kGroup);
  const Bytes report = run(host, kStart, kLater).at(0).bytes;
  const Bytes good = query<TypeParam>(TypeParam::kRouter, Gid{}, 1000);
  Bytes frame = good;
  frame.back() ^= 1;
  EXPECT_EQ(give(host, kLater, frame), TypeParam::kBadChecksum);
  frame = good;
  frame.resize(frame.size() - 8);
  EXPECT_EQ(give(host, kLater, frame), Drop::kFrameCut);
  EXPECT_EQ(give(host, kLater, report), Drop::kNone);
  EXPECT_EQ(host.poll_timeout(), kNever);
  EXPECT_EQ(host.counters().queries_received.value(), 0u);
}

// The version below records: single reports to the group, and a leave to the routers.
TYPED_TEST(GroupHostTest, FollowsAnOlderQuerierAndReturnsWhenItIsSilent_Case61) {
  constexpr uint8_t kOlder = TypeParam::kVersion - 1;
  auto& host = this->joined();
  ASSERT_EQ(give(host, kLater, query<TypeParam>(TypeParam::kRouter, Gid{}, 5000, {}, kOlder)),
            Drop::kNone);
  EXPECT_EQ(host.version(kLater), kOlder);
  auto sent = run(host, kLater, kMuchLater);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_LE(sent[0].at, kLater + seconds(5));
  auto message = parsed<TypeParam>(sent[0].bytes);
  EXPECT_EQ(message.kind, MembershipKind::kReport);
  EXPECT_EQ(message.version, kOlder);
  EXPECT_EQ(message.group, TypeParam::kGroup);
  EXPECT_EQ(message.destination, TypeParam::kGroup);

  host.join(kMuchLater, TypeParam::group(1));
  EXPECT_EQ(run(host, kMuchLater, kMuchLater + seconds(10)).size(), 2u);
  const Time leaving = kMuchLater + seconds(20);
  host.leave(leaving, TypeParam::group(1));
  sent = run(host, leaving, leaving + seconds(10));
  ASSERT_EQ(sent.size(), 2u);
  message = parsed<TypeParam>(sent[0].bytes);
  EXPECT_EQ(message.kind, MembershipKind::kLeave);
  EXPECT_EQ(message.group, TypeParam::group(1));
  EXPECT_EQ(message.destination.bytes[15], 2) << "all routers";
  EXPECT_EQ(host.counters().leaves_sent.value(), 2u);
  EXPECT_EQ(host.counters().older_queries_received.value(), 1u);

  const Time silent = kLater + seconds(2 * 125 + 5);
  EXPECT_EQ(host.version(silent), TypeParam::kVersion);
  host.join(silent, TypeParam::group(2));
  sent = run(host, silent, silent + seconds(10));
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(records_of<TypeParam>(sent[0].bytes).at(0).type, RecordType::kChangeToExclude);
}

TYPED_TEST(GroupHostTest, TheChangeOfVersionDropsAnswersButNoChange) {
  auto& host = this->joined();
  host.join(kLater, TypeParam::group(1));
  run(host, kLater, kLater);  // the first report of two, by record
  ASSERT_EQ(give(host, kLater, query<TypeParam>(TypeParam::kRouter, TypeParam::kGroup, 1000)),
            Drop::kNone);
  ASSERT_EQ(give(host, kLater,
                 query<TypeParam>(TypeParam::kRouter, Gid{}, 20000, {}, TypeParam::kVersion - 1)),
            Drop::kNone);
  std::map<Gid, int> seen;
  for (const auto& frame : run(host, kLater, kLater + seconds(60))) {
    const auto message = parsed<TypeParam>(frame.bytes);
    EXPECT_EQ(message.kind, MembershipKind::kReport);
    ++seen[message.group];
  }
  EXPECT_EQ(seen[TypeParam::kGroup], 1) << "its answer to the new query was cancelled";
  EXPECT_EQ(seen[TypeParam::group(1)], 2) << "its second report and its answer to the old one";
}

TYPED_TEST(GroupHostTest, ReportsOfOthersSpareOursInTheOlderVersionsOnly) {
  constexpr uint8_t kOlder = TypeParam::kVersion - 1;
  auto& host = this->joined();
  MembershipMessage report;
  report.kind = MembershipKind::kReport;
  report.version = kOlder;
  report.group = TypeParam::kGroup;
  Bytes heard(128);
  heard.resize(TypeParam::build(heard, TypeParam::kRouter, report));
  ASSERT_EQ(give(host, kLater, query<TypeParam>(TypeParam::kRouter, Gid{}, 5000)), Drop::kNone);
  ASSERT_EQ(give(host, kLater, heard), Drop::kNone);
  EXPECT_EQ(run(host, kLater, kMuchLater).size(), 1u);
  ASSERT_EQ(give(host, kMuchLater, query<TypeParam>(TypeParam::kRouter, Gid{}, 5000, {}, kOlder)),
            Drop::kNone);
  ASSERT_EQ(give(host, kMuchLater, heard), Drop::kNone);
  EXPECT_TRUE(run(host, kMuchLater, kMuchLater + seconds(10)).empty());
  EXPECT_EQ(host.counters().answers_suppressed.value(), 1u);
}

TYPED_TEST(GroupHostTest, SpeaksTheVersionItIsConfiguredFor) {
  HostConfig config = host_config<TypeParam>();
  config.version_max = TypeParam::kVersion - 1;
  typename TypeParam::Host host(config);
  host.join(kStart, TypeParam::kGroup);
  ASSERT_EQ(give(host, kStart, query<TypeParam>(TypeParam::kRouter, Gid{}, 1000)), Drop::kNone);
  const auto sent = run(host, kStart, kLater);
  ASSERT_EQ(sent.size(), 3u);  // a join twice and an answer
  for (const auto& frame : sent) {
    EXPECT_EQ(parsed<TypeParam>(frame.bytes).kind, MembershipKind::kReport);
  }
}

TYPED_TEST(GroupHostTest, SwitchedOffItTakesGroupsAndSaysNothing) {
  HostConfig config = host_config<TypeParam>();
  config.version_max = 0;
  typename TypeParam::Host host(config);
  EXPECT_TRUE(host.join(kStart, TypeParam::kGroup));
  ASSERT_EQ(give(host, kStart, query<TypeParam>(TypeParam::kRouter, Gid{}, 1000)), Drop::kNone);
  EXPECT_TRUE(run(host, kStart, kLater).empty());
  EXPECT_TRUE(host.leave(kLater, TypeParam::kGroup));
  EXPECT_TRUE(run(host, kLater, kMuchLater).empty());
}

TYPED_TEST(GroupHostTest, TakesTheRobustnessOfTheQuerier) {
  auto& host = this->host_;
  MembershipMessage message;
  message.version = TypeParam::kVersion;
  message.robustness = 4;
  message.max_response_ms = 1000;
  Bytes frame(128);
  frame.resize(TypeParam::build(frame, TypeParam::kRouter, message));
  ASSERT_EQ(give(host, kStart, frame), Drop::kNone);
  run(host, kStart, kLater);
  host.join(kLater, TypeParam::kGroup);
  EXPECT_EQ(run(host, kLater, kMuchLater).size(), 4u);
}

}  // namespace
}  // namespace uroce::group
