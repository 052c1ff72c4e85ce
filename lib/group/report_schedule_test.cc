// SPDX-License-Identifier: BSD-3-Clause
// When records are reported: changes twice, answers in time, nothing for what never was.
#include "group/report_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace uroce::group {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::RecordType;

constexpr Gid kGroup = Gid::from_ipv4(0xEF010201);
constexpr Time kStart{seconds(1)};

struct Sent {
  Time at;
  wire::GroupRecord record;
};

// Takes at most records.size() records, without their sources; returns how many.
uint32_t take(ReportSchedule& schedule, Time now, std::span<wire::GroupRecord> records) {
  RecordRoom room(records, {}, static_cast<uint32_t>(records.size()) * 8);
  schedule.take_due(now, room);
  return static_cast<uint32_t>(room.records().size());
}

// Runs the schedule by its own deadlines up to `until`, with room for `room` records a frame.
std::vector<Sent> run(ReportSchedule& schedule, Time until, uint32_t room = 100) {
  std::vector<Sent> sent;
  std::vector<wire::GroupRecord> records(room);
  while (schedule.poll_timeout() <= until) {
    const Time now = std::max(kStart, schedule.poll_timeout());
    const uint32_t n = take(schedule, now, records);
    for (uint32_t i = 0; i < n; ++i) sent.push_back({now, records[i]});
  }
  return sent;
}

TEST(ReportSchedule, JoinIsReportedAtOnceAndOnceMoreWithinASecond_Case61) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ReportSchedule schedule(8, 8, seed);
    ASSERT_TRUE(schedule.join(kStart, kGroup));
    const auto sent = run(schedule, kStart + seconds(100));
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].at, kStart);
    EXPECT_GT(sent[1].at, kStart);
    EXPECT_LE(sent[1].at, kStart + seconds(1));
    for (const Sent& s : sent) EXPECT_EQ(s.record.type, RecordType::kChangeToExclude);
  }
}

TEST(ReportSchedule, WhoIsAboutToGoRepeatsItsLeavesWithinATenthOfASecond) {
  constexpr Gid kOther = Gid::from_ipv4(0xEF010202);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ReportSchedule schedule(8, 8, seed);
    schedule.join(kStart, kGroup);
    schedule.join(kStart, kOther);
    run(schedule, kStart + seconds(2));
    const Time end = kStart + seconds(2);
    schedule.leave(end, kGroup);
    run(schedule, end);  // reported once
    schedule.leave(end, kOther);
    EXPECT_EQ(schedule.leaving_count(), 2u);
    schedule.hurry_leaves(end, true);
    const auto sent = run(schedule, end + milliseconds(100));
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(schedule.leaving_count(), 0u);
    EXPECT_EQ(schedule.poll_timeout(), kNever);
  }
}

TEST(ReportSchedule, AGroupThatIsJoinedAgainIsNotLeavingAnyMore) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  schedule.leave(kStart + seconds(2), kGroup);
  EXPECT_EQ(schedule.leaving_count(), 1u);
  schedule.join(kStart + seconds(2), kGroup);
  EXPECT_EQ(schedule.leaving_count(), 0u);
}

TEST(ReportSchedule, LeaveIsReportedLikewiseAndForgotten_Case61) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  ASSERT_TRUE(schedule.leave(kStart + seconds(2), kGroup));
  const auto sent = run(schedule, kStart + seconds(100));
  ASSERT_EQ(sent.size(), 2u);
  for (const Sent& s : sent) EXPECT_EQ(s.record.type, RecordType::kChangeToInclude);
  EXPECT_LE(sent[1].at, kStart + seconds(3));
  EXPECT_EQ(schedule.poll_timeout(), kNever);
  EXPECT_FALSE(schedule.leave(kStart, kGroup));
}

TEST(ReportSchedule, JoiningTwiceReportsOnce_Case61) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  EXPECT_TRUE(schedule.join(kStart + seconds(2), kGroup));
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

// case 65: one report and one leave for each true change, none for a change that nobody saw.
TEST(ReportSchedule, JoinAndLeaveBeforeAnyReportIsSilent_Case65) {
  ReportSchedule schedule(8, 8, 1);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(schedule.join(kStart, kGroup));
    ASSERT_TRUE(schedule.leave(kStart, kGroup));
  }
  EXPECT_EQ(schedule.poll_timeout(), kNever);
  EXPECT_EQ(schedule.joined_count(), 0u);
}

TEST(ReportSchedule, LaterChangeReplacesTheRepetitionOfTheEarlier) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart);
  schedule.leave(kStart, kGroup);
  run(schedule, kStart);
  schedule.join(kStart, kGroup);
  const auto sent = run(schedule, kStart + seconds(100));
  ASSERT_EQ(sent.size(), 2u);
  for (const Sent& s : sent) EXPECT_EQ(s.record.type, RecordType::kChangeToExclude);
  EXPECT_TRUE(schedule.is_joined(kGroup));
}

TEST(ReportSchedule, GeneralQueryIsAnsweredOnceForEachGroupInTime) {
  ReportSchedule schedule(8, 8, 1);
  for (uint32_t i = 0; i < 5; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  const Time asked = kStart + seconds(10);
  schedule.handle_general_query(asked, seconds(3));
  const Time due = schedule.poll_timeout();
  schedule.handle_general_query(asked,
                                seconds(1000));  // must not put the answer off
  EXPECT_EQ(schedule.poll_timeout(), due);
  const auto sent = run(schedule, asked + seconds(3), 2);  // three frames
  ASSERT_EQ(sent.size(), 5u);
  std::map<Gid, int> seen;
  for (const Sent& s : sent) {
    EXPECT_EQ(s.record.type, RecordType::kModeIsExclude);
    EXPECT_EQ(s.at, due);
    ++seen[s.record.group];
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

TEST(ReportSchedule, GroupQueryIsAnsweredForThatGroupOnly) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  schedule.join(kStart, Gid::from_ipv4(0xEF000001));
  run(schedule, kStart + seconds(2));
  const Time asked = kStart + seconds(10);
  schedule.handle_group_query(asked, kGroup, milliseconds(500));
  schedule.handle_group_query(asked, Gid::from_ipv4(0xEF000009),
                              milliseconds(500));  // not ours
  const auto sent = run(schedule, asked + milliseconds(500));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].record.group, kGroup);
  EXPECT_EQ(sent[0].record.type, RecordType::kModeIsExclude);
}

TEST(ReportSchedule, GroupThatWasLeftIsNotInAnAnswer) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart);
  schedule.handle_group_query(kStart, kGroup, seconds(1));
  schedule.leave(kStart, kGroup);
  ASSERT_EQ(run(schedule, kStart).size(), 1u);
  // The leave waits for its repetition when the general answer walks over the entries.
  schedule.handle_general_query(kStart, milliseconds(10));
  for (const Sent& s : run(schedule, kStart + seconds(5))) {
    EXPECT_EQ(s.record.type, RecordType::kChangeToInclude);
  }
}

TEST(ReportSchedule, QueryFloodIsAnsweredAtABoundedRate) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  std::vector<wire::GroupRecord> room(8);
  uint32_t answers = 0;
  for (int us = 0; us < 1000000; us += 10) {
    const Time now = kStart + seconds(10) + std::chrono::microseconds(us);
    schedule.handle_general_query(now, Duration(0));
    answers += take(schedule, now, room);
  }
  // 100000 queries in a second; an answer takes 5 ms on average.
  EXPECT_GT(answers, 100u);
  EXPECT_LT(answers, 400u);
}

TEST(ReportSchedule, LinkUpReportsEveryJoinedGroupAgain) {
  ReportSchedule schedule(300, 8, 1);
  for (uint32_t i = 0; i < 300; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  schedule.reannounce(kStart + seconds(10));
  std::map<Gid, int> seen;
  for (const Sent& s : run(schedule, kStart + seconds(20))) {
    EXPECT_EQ(s.record.type, RecordType::kChangeToExclude);
    ++seen[s.record.group];
  }
  EXPECT_EQ(seen.size(), 300u);
  for (const auto& [group, times] : seen) EXPECT_EQ(times, 2);
}

// Many joins at one time are repeated in full frames, not in one frame each.
TEST(ReportSchedule, BurstOfJoinsStaysABurst) {
  ReportSchedule schedule(300, 8, 1);
  for (uint32_t i = 0; i < 300; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  std::map<Time, int> frames;
  for (const Sent& s : run(schedule, kStart + seconds(2), 100)) ++frames[s.at];
  EXPECT_LE(frames.size(),
            4u);  // one instant of first reports, three of repetitions
}

TEST(ReportSchedule, FullTableRefusesAJoinAndALeaveMakesRoomAtOnce) {
  ReportSchedule schedule(2, 8, 1);
  EXPECT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000001)));
  EXPECT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000002)));
  EXPECT_FALSE(schedule.join(kStart, Gid::from_ipv4(0xEF000003)));
  // Churn faster than leaves can be repeated: the oldest repetitions are given up, no join is.
  std::vector<wire::GroupRecord> room(8);
  for (uint32_t i = 3; i < 100; ++i) {
    take(schedule, kStart, room);
    ASSERT_TRUE(schedule.leave(kStart, Gid::from_ipv4(0xEF000000 + i - 1)));
    ASSERT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i)));
  }
  EXPECT_GT(schedule.leaves_cut_short(), 0u);
  EXPECT_EQ(schedule.joined_count(), 2u);
  run(schedule, kStart + seconds(5));
  EXPECT_TRUE(schedule.is_joined(Gid::from_ipv4(0xEF000063)));
  EXPECT_TRUE(schedule.is_joined(Gid::from_ipv4(0xEF000001)));
}

TEST(ReportSchedule, RobustnessSaysHowOftenAChangeIsReported) {
  for (const uint8_t robustness : {uint8_t{1}, uint8_t{3}, uint8_t{7}}) {
    ReportSchedule schedule(8, 8, 1);
    schedule.set_robustness(robustness);
    schedule.join(kStart, kGroup);
    EXPECT_EQ(run(schedule, kStart + seconds(100)).size(), robustness);
    schedule.leave(kStart, kGroup);
    EXPECT_EQ(run(schedule, kStart + seconds(100)).size(), robustness);
  }
}

TEST(ReportSchedule, JoinsMayBeRepeatedLaterThanLeaves) {
  Time last_join = kStart;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ReportSchedule schedule(8, 8, seed);
    schedule.set_join_repeat_within(seconds(10));
    schedule.join(kStart, kGroup);
    auto sent = run(schedule, kStart + seconds(100));
    EXPECT_LE(sent.at(1).at, kStart + seconds(10));
    last_join = std::max(last_join, sent.at(1).at);
    schedule.leave(kStart, kGroup);
    sent = run(schedule, kStart + seconds(100));
    EXPECT_LE(sent.at(1).at, kStart + seconds(1));
  }
  EXPECT_GT(last_join, kStart + seconds(5));
}

TEST(ReportSchedule, SpreadAnswerTakesTheQueriersTimeAndNamesEachGroupOnce) {
  ReportSchedule schedule(300, 8, 1);
  for (uint32_t i = 0; i < 100; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  const Time asked = kStart + seconds(10);
  schedule.handle_general_query(asked, seconds(10), ReportSchedule::Answer::kSpread);
  std::map<Gid, int> seen;
  Time before = asked;
  for (const Sent& s : run(schedule, kStart + seconds(100), 1)) {
    EXPECT_GT(s.at, asked);
    EXPECT_LE(s.at, asked + seconds(10));
    EXPECT_LE(s.at - before, milliseconds(100));
    before = s.at;
    ++seen[s.record.group];
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_GT(before, asked + seconds(9));
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

// A flood of queries neither starts the walk again and again nor goes unanswered.
TEST(ReportSchedule, QueriesDuringASpreadAnswerMakeOneMoreBehindIt) {
  ReportSchedule schedule(8, 8, 1);
  for (uint32_t i = 0; i < 4; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  std::vector<wire::GroupRecord> room(1);
  std::map<Gid, int> seen;
  for (int ms = 0; ms < 3500; ++ms) {
    const Time now = kStart + seconds(10) + milliseconds(ms);
    if (ms < 1000) schedule.handle_general_query(now, seconds(1), ReportSchedule::Answer::kSpread);
    if (take(schedule, now, room) == 1) ++seen[room[0].group];
  }
  EXPECT_EQ(seen.size(), 4u);
  for (const auto& [group, times] : seen) EXPECT_EQ(times, 2);
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

TEST(ReportSchedule, AQueryForAGroupIsAnsweredInTimeDuringASpreadAnswer) {
  ReportSchedule schedule(8, 8, 1);
  for (uint32_t i = 0; i < 4; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  const Time asked = kStart + seconds(10);
  schedule.handle_general_query(asked, milliseconds(400), ReportSchedule::Answer::kSpread);
  const Gid last = Gid::from_ipv4(0xEF000003);  // the walk comes to it after 300 ms at least
  schedule.handle_group_query(asked, last, milliseconds(200));
  const auto sent = run(schedule, asked + milliseconds(200));
  EXPECT_EQ(std::count_if(sent.begin(), sent.end(),
                          [&](const Sent& s) { return s.record.group == last; }),
            1);
}

TEST(ReportSchedule, AReportOfAnotherHostSparesTheAnswerForItsGroup) {
  ReportSchedule schedule(8, 8, 1);
  for (uint32_t i = 0; i < 4; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  const Gid heard = Gid::from_ipv4(0xEF000001);
  EXPECT_FALSE(schedule.suppress_answer(heard)) << "nobody asked";
  for (int round = 0; round < 2; ++round) {  // the second time: it was for one answer only
    const Time asked = kStart + seconds(10 + 10 * round);
    schedule.handle_general_query(asked, seconds(1), ReportSchedule::Answer::kSpread);
    if (round == 0) {
      EXPECT_TRUE(schedule.suppress_answer(heard));
      EXPECT_FALSE(schedule.suppress_answer(heard)) << "twice";
    }
    const auto sent = run(schedule, asked + seconds(2), 1);
    EXPECT_EQ(sent.size(), round == 0 ? 3u : 4u);
  }
  schedule.handle_group_query(kStart + seconds(40), heard, seconds(1));
  EXPECT_TRUE(schedule.suppress_answer(heard));
  EXPECT_FALSE(schedule.suppress_answer(Gid::from_ipv4(0xEF000009))) << "not ours";
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

TEST(ReportSchedule, CancelledAnswersAreNotGivenButChangesAre) {
  ReportSchedule schedule(8, 8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  schedule.handle_general_query(kStart + seconds(10), seconds(1));
  schedule.handle_group_query(kStart + seconds(10), kGroup, milliseconds(100));
  schedule.cancel_answers();
  EXPECT_EQ(schedule.poll_timeout(), kNever);
  schedule.join(kStart + seconds(10), Gid::from_ipv4(0xEF000001));
  schedule.cancel_answers();
  EXPECT_EQ(run(schedule, kStart + seconds(20)).size(), 2u);
}

}  // namespace
}  // namespace uroce::group
