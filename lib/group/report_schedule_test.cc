// SPDX-License-Identifier: BSD-3-Clause
// When records are reported: changes twice, answers in time, nothing for what never was.
#include "group/report_schedule.h"

#include <gtest/gtest.h>

#include <map>
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

// Runs the schedule by its own deadlines up to `until`, with room for `room` records a frame.
std::vector<Sent> run(ReportSchedule& schedule, Time until, uint32_t room = 100) {
  std::vector<Sent> sent;
  std::vector<wire::GroupRecord> records(room);
  while (schedule.poll_timeout() <= until) {
    const Time now = std::max(kStart, schedule.poll_timeout());
    const uint32_t n = schedule.take_due(now, records);
    for (uint32_t i = 0; i < n; ++i) sent.push_back({now, records[i]});
  }
  return sent;
}

TEST(ReportSchedule, JoinIsReportedAtOnceAndOnceMoreWithinASecond_Case61) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ReportSchedule schedule(8, seed);
    ASSERT_TRUE(schedule.join(kStart, kGroup));
    const auto sent = run(schedule, kStart + seconds(100));
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].at, kStart);
    EXPECT_GT(sent[1].at, kStart);
    EXPECT_LE(sent[1].at, kStart + seconds(1));
    for (const Sent& s : sent) EXPECT_EQ(s.record.type, RecordType::kChangeToExclude);
  }
}

TEST(ReportSchedule, LeaveIsReportedLikewiseAndForgotten_Case61) {
  ReportSchedule schedule(8, 1);
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
  ReportSchedule schedule(8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  EXPECT_TRUE(schedule.join(kStart + seconds(2), kGroup));
  EXPECT_EQ(schedule.poll_timeout(), kNever);
}

// case 65: one report and one leave for each true change, none for a change that nobody saw.
TEST(ReportSchedule, JoinAndLeaveBeforeAnyReportIsSilent_Case65) {
  ReportSchedule schedule(8, 1);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(schedule.join(kStart, kGroup));
    ASSERT_TRUE(schedule.leave(kStart, kGroup));
  }
  EXPECT_EQ(schedule.poll_timeout(), kNever);
  EXPECT_EQ(schedule.joined_count(), 0u);
}

TEST(ReportSchedule, LaterChangeReplacesTheRepetitionOfTheEarlier) {
  ReportSchedule schedule(8, 1);
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
  ReportSchedule schedule(8, 1);
  for (uint32_t i = 0; i < 5; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  run(schedule, kStart + seconds(2));
  const Time asked = kStart + seconds(10);
  schedule.handle_general_query(asked, seconds(3));
  const Time due = schedule.poll_timeout();
  schedule.handle_general_query(asked, seconds(1000));  // must not put the answer off
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
  ReportSchedule schedule(8, 1);
  schedule.join(kStart, kGroup);
  schedule.join(kStart, Gid::from_ipv4(0xEF000001));
  run(schedule, kStart + seconds(2));
  const Time asked = kStart + seconds(10);
  schedule.handle_group_query(asked, kGroup, milliseconds(500));
  schedule.handle_group_query(asked, Gid::from_ipv4(0xEF000009), milliseconds(500));  // not ours
  const auto sent = run(schedule, asked + milliseconds(500));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].record.group, kGroup);
  EXPECT_EQ(sent[0].record.type, RecordType::kModeIsExclude);
}

TEST(ReportSchedule, GroupThatWasLeftIsNotInAnAnswer) {
  ReportSchedule schedule(8, 1);
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
  ReportSchedule schedule(8, 1);
  schedule.join(kStart, kGroup);
  run(schedule, kStart + seconds(2));
  std::vector<wire::GroupRecord> room(8);
  uint32_t answers = 0;
  for (int us = 0; us < 1000000; us += 10) {
    const Time now = kStart + seconds(10) + std::chrono::microseconds(us);
    schedule.handle_general_query(now, Duration(0));
    answers += schedule.take_due(now, room);
  }
  // 100000 queries in a second; an answer takes 5 ms on average.
  EXPECT_GT(answers, 100u);
  EXPECT_LT(answers, 400u);
}

TEST(ReportSchedule, LinkUpReportsEveryJoinedGroupAgain) {
  ReportSchedule schedule(300, 1);
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
  ReportSchedule schedule(300, 1);
  for (uint32_t i = 0; i < 300; ++i) schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i));
  std::map<Time, int> frames;
  for (const Sent& s : run(schedule, kStart + seconds(2), 100)) ++frames[s.at];
  EXPECT_LE(frames.size(), 4u);  // one instant of first reports, three of repetitions
}

TEST(ReportSchedule, FullTableRefusesAJoinAndALeaveMakesRoomAtOnce) {
  ReportSchedule schedule(2, 1);
  EXPECT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000001)));
  EXPECT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000002)));
  EXPECT_FALSE(schedule.join(kStart, Gid::from_ipv4(0xEF000003)));
  // Churn faster than leaves can be repeated: the oldest repetitions are given up, no join is.
  std::vector<wire::GroupRecord> room(8);
  for (uint32_t i = 3; i < 100; ++i) {
    schedule.take_due(kStart, room);
    ASSERT_TRUE(schedule.leave(kStart, Gid::from_ipv4(0xEF000000 + i - 1)));
    ASSERT_TRUE(schedule.join(kStart, Gid::from_ipv4(0xEF000000 + i)));
  }
  EXPECT_GT(schedule.leaves_cut_short(), 0u);
  EXPECT_EQ(schedule.joined_count(), 2u);
  run(schedule, kStart + seconds(5));
  EXPECT_TRUE(schedule.is_joined(Gid::from_ipv4(0xEF000063)));
  EXPECT_TRUE(schedule.is_joined(Gid::from_ipv4(0xEF000001)));
}

}  // namespace
}  // namespace uroce::group
