// SPDX-License-Identifier: BSD-3-Clause
// What reports say of sources: the tables of RFC 3376 5, splitting, and that a router that hears
// them knows the filter.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "group/report_schedule.h"

namespace uroce::group {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::RecordType;
using Sources = std::vector<Gid>;

constexpr Gid kGroup = Gid::from_ipv4(0xEF010203);
constexpr Gid kA = Gid::from_ipv4(0x0A00000A);
constexpr Gid kB = Gid::from_ipv4(0x0A00000B);
constexpr Gid kC = Gid::from_ipv4(0x0A00000C);
constexpr Time kStart{seconds(1)};
constexpr Time kLater{seconds(100)};

struct Record {
  RecordType type;
  Sources sources;
  bool operator==(const Record&) const = default;
};
using Report = std::vector<Record>;

Report include(RecordType type, Sources sources) { return {{type, std::move(sources)}}; }

// The records of the next frame, of at most `bytes`; sources in ascending order.
Report take(ReportSchedule& schedule, Time now, uint32_t bytes = 1468) {
  std::vector<wire::GroupRecord> records(bytes / 8);
  std::vector<uint8_t> addresses(bytes);
  RecordRoom room(records, addresses, bytes);
  schedule.take_due(now, room);
  Report report;
  uint32_t used = 0;
  for (const wire::GroupRecord& record : room.records()) {
    Record& one = report.emplace_back(Record{record.type, {}});
    for (size_t at = 0; at < record.sources.size(); at += 4) {
      one.sources.push_back(wire::load_address(record.sources.data() + at, false));
    }
    std::sort(one.sources.begin(), one.sources.end());
    used += wire::record_bytes(record);
  }
  EXPECT_LE(used, bytes);
  return report;
}

// All reports up to `until`, each at its own deadline.
std::vector<Report> run(ReportSchedule& schedule, Time until, uint32_t bytes = 1468) {
  std::vector<Report> reports;
  Time now = kStart;
  while (schedule.poll_timeout() <= until) {
    now = std::max(now, schedule.poll_timeout());
    if (Report report = take(schedule, now, bytes); !report.empty()) reports.push_back(report);
  }
  return reports;
}

class ReportSources : public testing::Test {
 protected:
  bool set(FilterMode mode, const Sources& sources, Time now = kLater) {
    return schedule.set_filter(now, kGroup, {mode, sources});
  }
  // From one filter that is known to another; what is said of it.
  std::vector<Report> change(FilterMode from_mode, const Sources& from, FilterMode to_mode,
                             const Sources& to) {
    EXPECT_TRUE(set(from_mode, from, kStart));
    run(schedule, kLater);
    EXPECT_TRUE(set(to_mode, to));
    return run(schedule, kLater + seconds(100));
  }
  Report answer(const std::vector<Sources>& questions) {
    for (const Sources& asked : questions) {
      std::vector<uint8_t> bytes(asked.size() * 4);
      for (size_t i = 0; i < asked.size(); ++i) wire::store_address(&bytes[i * 4], asked[i]);
      schedule.handle_group_query(kLater, kGroup, milliseconds(500), bytes);
    }
    const auto reports = run(schedule, kLater + milliseconds(500));
    EXPECT_LE(reports.size(), 1u);
    EXPECT_EQ(schedule.poll_timeout(), kNever);
    return reports.empty() ? Report{} : reports[0];
  }
  static constexpr auto kInclude = FilterMode::kInclude;
  static constexpr auto kExclude = FilterMode::kExclude;
  ReportSchedule schedule{8, 1000, 1};
};

// RFC 3376 5.1, the table of changes.
TEST_F(ReportSources, AChangeOfSourcesNamesThoseThatComeAndThoseThatGo) {
  const Report both = {{RecordType::kAllowNewSources, {kC}}, {RecordType::kBlockOldSources, {kA}}};
  EXPECT_EQ(change(kInclude, {kA, kB}, kInclude, {kB, kC}), (std::vector<Report>{both, both}));
}

TEST_F(ReportSources, OfAnExcludeFilterTheOtherWayRound) {
  const Report both = {{RecordType::kAllowNewSources, {kA}}, {RecordType::kBlockOldSources, {kC}}};
  EXPECT_EQ(change(kExclude, {kA, kB}, kExclude, {kB, kC}), (std::vector<Report>{both, both}));
}

TEST_F(ReportSources, AChangeOfTheModeNamesTheWholeFilter) {
  const Report to_exclude = include(RecordType::kChangeToExclude, {kB});
  EXPECT_EQ(change(kInclude, {kA, kB}, kExclude, {kB}),
            (std::vector<Report>{to_exclude, to_exclude}));
  ASSERT_TRUE(set(kInclude, {kA, kC}, kLater + seconds(200)));
  const Report to_include = include(RecordType::kChangeToInclude, {kA, kC});
  EXPECT_EQ(run(schedule, kLater + seconds(300)), (std::vector<Report>{to_include, to_include}));
}

TEST_F(ReportSources, TheFirstSourceIsAllowedAndTheLastOneBlocked) {
  ASSERT_TRUE(set(kInclude, {kA}, kStart));
  EXPECT_TRUE(schedule.is_joined(kGroup));
  const Report allow = include(RecordType::kAllowNewSources, {kA});
  EXPECT_EQ(run(schedule, kLater), (std::vector<Report>{allow, allow}));
  ASSERT_TRUE(set(kInclude, {}));
  EXPECT_FALSE(schedule.is_joined(kGroup));
  EXPECT_EQ(schedule.leaving_count(), 1u);
  const Report block = include(RecordType::kBlockOldSources, {kA});
  EXPECT_EQ(run(schedule, kLater + seconds(100)), (std::vector<Report>{block, block}));
  EXPECT_EQ(schedule.leaving_count(), 0u);
}

// RFC 3376 5.1: each change is told twice, counted from when it came.
TEST_F(ReportSources, ALaterChangeIsMergedWithTheRepetitionOfTheEarlier) {
  ASSERT_TRUE(set(kInclude, {kA}));
  EXPECT_EQ(take(schedule, kLater), include(RecordType::kAllowNewSources, {kA}));
  ASSERT_TRUE(set(kInclude, {kA, kB}));
  EXPECT_EQ(take(schedule, kLater), include(RecordType::kAllowNewSources, {kA, kB}));
  EXPECT_EQ(run(schedule, kLater + seconds(100)),
            (std::vector<Report>{include(RecordType::kAllowNewSources, {kB})}));
}

TEST_F(ReportSources, WhileTheModeIsRepeatedAChangeOfSourcesGoesWithIt) {
  ASSERT_TRUE(set(kExclude, {}));
  EXPECT_EQ(take(schedule, kLater), include(RecordType::kChangeToExclude, {}));
  ASSERT_TRUE(set(kExclude, {kA}));
  EXPECT_EQ(take(schedule, kLater), include(RecordType::kChangeToExclude, {kA}));
  EXPECT_EQ(run(schedule, kLater + seconds(100)),
            (std::vector<Report>{include(RecordType::kBlockOldSources, {kA})}));
}

TEST_F(ReportSources, ASourceThatGoesBeforeAnyReportIsNotToldOf) {
  EXPECT_TRUE(set(kInclude, {kA}));
  EXPECT_TRUE(set(kInclude, {}));
  EXPECT_EQ(schedule.poll_timeout(), kNever);
  EXPECT_TRUE(set(kInclude, {kA}));
  EXPECT_TRUE(set(kInclude, {kA, kB}));
  EXPECT_TRUE(set(kInclude, {kA}));
  EXPECT_EQ(take(schedule, kLater), include(RecordType::kAllowNewSources, {kA}));
}

TEST_F(ReportSources, TheSameFilterAgainIsNoChange) {
  ASSERT_TRUE(set(kInclude, {kA, kB}, kStart));
  run(schedule, kLater);
  ASSERT_TRUE(set(kInclude, {kB, kA}));
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

TEST_F(ReportSources, AGeneralQueryIsAnsweredByTheFilter) {
  for (const FilterMode mode : {kInclude, kExclude}) {
    ASSERT_TRUE(set(mode, {kA, kB}, kStart));
    run(schedule, kLater);
    schedule.handle_general_query(kLater, seconds(1));
    EXPECT_EQ(run(schedule, kLater + seconds(1)),
              (std::vector<Report>{include(
                  mode == kInclude ? RecordType::kModeIsInclude : RecordType::kModeIsExclude,
                  {kA, kB})}));
  }
}

// RFC 3376 5.2, the table of answers.
TEST_F(ReportSources, AQueryForSourcesIsAnsweredForThoseThatAreLetThrough) {
  ASSERT_TRUE(set(kInclude, {kA, kB}, kStart));
  run(schedule, kLater);
  EXPECT_EQ(answer({{kB, kC}}), include(RecordType::kModeIsInclude, {kB}));
  EXPECT_EQ(answer({{kC}}), Report{});
  EXPECT_EQ(answer({{kB}, {kA}}), include(RecordType::kModeIsInclude, {kA, kB})) << "merged";
  EXPECT_EQ(answer({{kB}}), include(RecordType::kModeIsInclude, {kB})) << "and forgotten";
  EXPECT_EQ(answer({{kB}, {}, {kA}}), include(RecordType::kModeIsInclude, {kA, kB})) << "whole";
  ASSERT_TRUE(set(kExclude, {kA}, kStart));
  run(schedule, kLater);
  EXPECT_EQ(answer({{kA, kC}}), include(RecordType::kModeIsInclude, {kC}));
  EXPECT_EQ(answer({{kA}}), Report{});
  EXPECT_EQ(answer({{}}), include(RecordType::kModeIsExclude, {kA}));
}

TEST_F(ReportSources, LinkUpTellsTheWholeFilterAgain) {
  ASSERT_TRUE(set(kInclude, {kA, kB}, kStart));
  run(schedule, kLater);
  schedule.reannounce(kLater);
  const Report allow = include(RecordType::kAllowNewSources, {kA, kB});
  EXPECT_EQ(run(schedule, kLater + seconds(10)), (std::vector<Report>{allow, allow}));
  ASSERT_TRUE(set(kExclude, {kC}, kStart));
  run(schedule, kLater);
  schedule.reannounce(kLater);
  const Report exclude = include(RecordType::kChangeToExclude, {kC});
  EXPECT_EQ(run(schedule, kLater + seconds(10)), (std::vector<Report>{exclude, exclude}));
}

Sources many(uint32_t count) {
  Sources sources;
  sources.reserve(count);
  for (uint32_t i = 0; i < count; ++i) sources.push_back(Gid::from_ipv4(0x0A010000 + i));
  return sources;
}

// 1468 bytes hold one record with 365 sources.
TEST_F(ReportSources, SourcesThatAreAllowedGoOnInTheNextFrame) {
  ASSERT_TRUE(set(kInclude, many(800), kStart));
  const Sources all = many(800);
  for (const RecordType type : {RecordType::kAllowNewSources, RecordType::kModeIsInclude}) {
    Sources told;
    std::vector<size_t> sizes;
    for (Report report = take(schedule, kLater); !report.empty(); report = take(schedule, kLater)) {
      ASSERT_EQ(report.size(), 1u);
      EXPECT_EQ(report[0].type, type);
      sizes.push_back(report[0].sources.size());
      told.insert(told.end(), report[0].sources.begin(), report[0].sources.end());
    }
    EXPECT_EQ(sizes, (std::vector<size_t>{365, 365, 70}));
    EXPECT_EQ(told, all);
    run(schedule, kLater + seconds(1));
    schedule.handle_group_query(kStart, kGroup, milliseconds(10));
  }
}

// RFC 3376 4.2.16: what is too long of an exclude record is left out, for it cannot be split.
TEST_F(ReportSources, AnExcludeRecordIsCutToOneFrame) {
  ASSERT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000001)));
  ASSERT_TRUE(set(kExclude, many(800), kStart));
  EXPECT_EQ(take(schedule, kStart), include(RecordType::kChangeToExclude, {}));
  const Report cut = take(schedule, kStart);
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].sources.size(), 365u);
  EXPECT_EQ(take(schedule, kStart), Report{});
}

TEST_F(ReportSources, ADozenGroupsShareAFrame) {
  ReportSchedule wide(20, 100, 1);
  for (uint32_t i = 0; i < 12; ++i) {
    const Sources two = {kA, kB};
    ASSERT_TRUE(wide.set_filter(kStart, Gid::from_ipv4(0xEF000000 + i), {kInclude, two}));
  }
  EXPECT_EQ(take(wide, kStart).size(), 12u);
}

TEST_F(ReportSources, AChangeInTheMiddleOfAReportBeginsItAnew) {
  ASSERT_TRUE(set(kInclude, many(400), kStart));
  EXPECT_EQ(take(schedule, kStart).at(0).sources.size(), 365u);
  const Sources fewer = many(10);
  ASSERT_TRUE(set(kInclude, fewer, kStart));
  const Report report = take(schedule, kStart);
  ASSERT_EQ(report.size(), 2u);
  EXPECT_EQ(report[0].sources, fewer);
  EXPECT_EQ(report[1].type, RecordType::kBlockOldSources);
}

TEST_F(ReportSources, ATableThatIsFullRefusesAndStaysAsItIs) {
  ReportSchedule small(4, 3, 1);
  const Sources two = {kA, kB};
  const Sources other = {kA, kC};
  ASSERT_TRUE(small.set_filter(kStart, kGroup, {kInclude, two}));
  EXPECT_FALSE(small.set_filter(kStart, Gid::from_ipv4(0xEF000001), {kInclude, other}));
  EXPECT_FALSE(small.set_filter(kStart, kGroup, {kInclude, many(4)}));
  EXPECT_EQ(take(small, kStart), include(RecordType::kAllowNewSources, two));
  // Sources that are still to be told of make room for those that are wanted.
  for (uint32_t i = 0; i < 200; ++i) {
    const Sources next = {Gid::from_ipv4(0x0A020000 + i), Gid::from_ipv4(0x0A030000 + i), kA};
    ASSERT_TRUE(small.set_filter(kStart, kGroup, {kInclude, next}));
    take(small, kStart);
  }
  EXPECT_TRUE(small.set_filter(kStart, kGroup, kEverySource));
  EXPECT_TRUE(small.set_filter(kStart, Gid::from_ipv4(0xEF000001), {kInclude, many(3)}));
}

// There a filter of some sources is a member as any, and a change of sources no news.
TEST_F(ReportSources, OlderQueriersAreToldOfMembersOnly) {
  schedule.set_by_records(false);
  const auto told = [&](Time until) {
    std::vector<RecordType> types;
    for (const Report& report : run(schedule, until, 8)) types.push_back(report.at(0).type);
    return types;
  };
  ASSERT_TRUE(set(kInclude, {kA}, kStart));
  EXPECT_EQ(told(kLater), std::vector(2, RecordType::kChangeToExclude));
  ASSERT_TRUE(set(kInclude, {kB}));
  EXPECT_EQ(told(kLater + seconds(10)), std::vector<RecordType>{});
  ASSERT_TRUE(set(kExclude, {}));
  EXPECT_EQ(told(kLater + seconds(20)), std::vector<RecordType>{});
  ASSERT_TRUE(set(kInclude, {}, kLater + seconds(20)));
  EXPECT_EQ(told(kLater + seconds(40)), std::vector(2, RecordType::kChangeToInclude));
}

// A router with one host behind it (RFC 3376 6.4).
struct Router {
  FilterMode mode = FilterMode::kInclude;
  std::set<Gid> sources;
  void hear(const Record& record) {
    const std::set<Gid> named(record.sources.begin(), record.sources.end());
    switch (record.type) {
      case RecordType::kModeIsInclude:
      case RecordType::kChangeToInclude:
        mode = FilterMode::kInclude;
        sources = named;
        break;
      case RecordType::kModeIsExclude:
      case RecordType::kChangeToExclude:
        mode = FilterMode::kExclude;
        sources = named;
        break;
      case RecordType::kAllowNewSources:
      case RecordType::kBlockOldSources: {
        const bool adds =
            (record.type == RecordType::kAllowNewSources) == (mode == FilterMode::kInclude);
        for (const Gid& source : named)
          adds ? (void)sources.insert(source) : (void)sources.erase(source);
      }
    }
  }
};

// Every other report is lost: what is told twice still arrives.
TEST_F(ReportSources, ARouterThatLosesEveryOtherReportKnowsTheFilterInTheEnd) {
  Random random(5);
  for (int history = 0; history < 300; ++history) {
    ReportSchedule host(2, 16, random.next64());
    Router router;
    Time now = kStart;
    bool lost = false;
    std::set<Gid> wanted;
    FilterMode mode = kInclude;
    const auto hear = [&](Time until) {
      while (host.poll_timeout() <= until) {
        now = std::max(now, host.poll_timeout());
        const Report report = take(host, now);
        if (report.empty()) continue;
        lost = !lost;
        if (lost) continue;
        for (const Record& record : report) router.hear(record);
      }
      now = until;
    };
    for (int step = 0; step < 12; ++step) {
      mode = random.below(4) == 0 ? kExclude : random.below(2) == 0 ? kInclude : mode;
      wanted.clear();
      for (uint64_t i = random.below(5); i > 0; --i) wanted.insert(many(6)[random.below(6)]);
      const Sources sources(wanted.begin(), wanted.end());
      ASSERT_TRUE(host.set_filter(now, kGroup, {mode, sources}));
      if (random.below(3) != 0) hear(now + milliseconds(random.below(1500)));
    }
    hear(now + seconds(100));
    ASSERT_EQ(router.sources, wanted) << history;
    ASSERT_TRUE(router.mode == mode) << history;
  }
}

}  // namespace
}  // namespace uroce::group
