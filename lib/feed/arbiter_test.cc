// SPDX-License-Identifier: BSD-3-Clause
// Arbitration, message by message: who wins, what is a gap on one side and on both, what is late.
#include "feed/arbiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"

namespace uroce::feed {
namespace {

// A packet of the tests: its numbers in the clear.
struct Packet {
  uint64_t sequence;
  uint32_t count;
};

int read_packet(void* /*context*/, const void* data, uint32_t length, uint64_t* sequence,
                uint32_t* count) {
  if (length != sizeof(Packet)) return -1;
  const auto* packet = static_cast<const Packet*>(data);
  *sequence = packet->sequence;
  *count = packet->count;
  return 0;
}

class ArbiterTest : public ::testing::Test {
 protected:
  static Arbiter make(uint32_t room, uint64_t patience_ns, uint64_t first, uint32_t ranges = 16) {
    return {{read_packet, nullptr, room, ranges, patience_ns, first},
            Window(std::make_unique<Message[]>(room), room),
            LostRanges(std::make_unique<uroce_feed_range[]>(ranges), ranges)};
  }
  uroce_feed_verdict arrive(uroce_feed_side side, uint64_t sequence, uint32_t count = 1) {
    const Packet packet{sequence, count};
    return arbiter_.arrive(side, &packet, sizeof packet, now_, arrival_);
  }
  const uroce_feed_side_statistics& side(uroce_feed_side of) const {
    return arbiter_.statistics().side[of];
  }

  Arbiter arbiter_ = make(64, 1000, 1);
  uroce_feed_arrival arrival_{};
  uint64_t now_ = 5000;
};

TEST_F(ArbiterTest, TheFirstCopyWins) {
  EXPECT_EQ(arrive(UROCE_FEED_A, 1), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.fresh, 1u);
  now_ += 700;
  EXPECT_EQ(arrive(UROCE_FEED_B, 1), UROCE_FEED_DUPLICATE);
  EXPECT_EQ(arrival_.late_ns, 700u);
  EXPECT_EQ(arrive(UROCE_FEED_B, 2), UROCE_FEED_NEW);
  EXPECT_EQ(arrive(UROCE_FEED_A, 2), UROCE_FEED_DUPLICATE);
  EXPECT_EQ(side(UROCE_FEED_A).wins, 1u);
  EXPECT_EQ(side(UROCE_FEED_B).wins, 1u);
  EXPECT_EQ(side(UROCE_FEED_B).losses, 1u);
  EXPECT_EQ(side(UROCE_FEED_B).late[9], 1u);  // 512 … 1023 ns
  EXPECT_EQ(side(UROCE_FEED_A).late[0], 1u);  // at the same time
  EXPECT_EQ(arbiter_.statistics().delivered, 2u);
}

TEST_F(ArbiterTest, AGapOpensAndTheOtherSideFillsIt) {
  arrive(UROCE_FEED_A, 1);
  EXPECT_EQ(arrive(UROCE_FEED_A, 4), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.missing, 2u);
  EXPECT_EQ(arrive(UROCE_FEED_B, 2), UROCE_FEED_NEW);
  EXPECT_EQ(arrive(UROCE_FEED_B, 3), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.missing, 0u);
  EXPECT_EQ(arbiter_.statistics().filled, 2u);
  now_ += 2000;
  uroce_feed_range range{};
  EXPECT_FALSE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(side(UROCE_FEED_A).gaps, 2u);  // 2 and 3
  EXPECT_EQ(side(UROCE_FEED_B).gaps, 2u);  // 1 and 4
  EXPECT_EQ(arbiter_.statistics().lost, 0u);
}

TEST_F(ArbiterTest, WhatNeitherSideBringsIsReportedOnceWhenPatienceEnds) {
  arrive(UROCE_FEED_A, 1);
  now_ += 10;
  arrive(UROCE_FEED_A, 4);
  arrive(UROCE_FEED_B, 4);
  uroce_feed_range range{};
  now_ += 999;
  EXPECT_FALSE(arbiter_.take_lost(now_, range));
  now_ += 1;
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(range.first, 2u);
  EXPECT_EQ(range.count, 2u);
  EXPECT_FALSE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(arbiter_.statistics().lost, 2u);
  // What was given up is not delivered afterwards: somebody else may have brought it by now.
  EXPECT_EQ(arrive(UROCE_FEED_B, 3), UROCE_FEED_STALE);
  EXPECT_EQ(side(UROCE_FEED_B).stale, 1u);
}

TEST_F(ArbiterTest, ASlowSideIsWaitedForAsLongAsTheWindowGoes) {
  for (uint64_t sequence = 1; sequence <= 64; ++sequence) arrive(UROCE_FEED_A, sequence);
  EXPECT_EQ(arrive(UROCE_FEED_B, 1), UROCE_FEED_DUPLICATE);
  arrive(UROCE_FEED_A, 65);
  EXPECT_EQ(arrive(UROCE_FEED_B, 1), UROCE_FEED_STALE);
  EXPECT_EQ(side(UROCE_FEED_B).gaps, 0u);
  arrive(UROCE_FEED_A, 66);
  EXPECT_EQ(side(UROCE_FEED_B).gaps, 1u);  // 2 left without B
}

TEST_F(ArbiterTest, AJumpWiderThanTheWindowIsLostAsOneRange) {
  arrive(UROCE_FEED_A, 1);
  EXPECT_EQ(arrive(UROCE_FEED_A, 1'000'000), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.missing, 999'998u);
  uroce_feed_range range{};
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(range.first, 2u);
  EXPECT_EQ(range.count, 1'000'000u - 64 + 1 - 2);  // the newest 64 may still come
  EXPECT_FALSE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(arrive(UROCE_FEED_B, 999'999), UROCE_FEED_NEW);
  now_ += 5000;
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(range.first + range.count, 999'999u);
  EXPECT_EQ(arbiter_.statistics().lost, 999'997u);
  EXPECT_EQ(side(UROCE_FEED_A).gaps, 999'998u);
}

TEST_F(ArbiterTest, APacketOfManyMessagesMayBePartlyNew) {
  arrive(UROCE_FEED_A, 1, 4);                             // 1 … 4
  EXPECT_EQ(arrive(UROCE_FEED_B, 3, 4), UROCE_FEED_NEW);  // 3 … 6
  EXPECT_EQ(arrival_.count, 4u);
  EXPECT_EQ(arrival_.fresh, 2u);
  EXPECT_FALSE(arbiter_.is_fresh(4));
  EXPECT_TRUE(arbiter_.is_fresh(5));
  EXPECT_TRUE(arbiter_.is_fresh(6));
  EXPECT_FALSE(arbiter_.is_fresh(7));
}

TEST_F(ArbiterTest, AHeartbeatShowsTheLossOfTheLastMessage) {
  arrive(UROCE_FEED_A, 1);
  EXPECT_EQ(arrive(UROCE_FEED_A, 2, 0), UROCE_FEED_HEARTBEAT);
  EXPECT_EQ(arrival_.missing, 0u);
  EXPECT_EQ(arrive(UROCE_FEED_A, 4, 0), UROCE_FEED_HEARTBEAT);
  EXPECT_EQ(arrival_.missing, 2u);
  now_ += 1000;
  uroce_feed_range range{};
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(range.first, 2u);
  EXPECT_EQ(range.count, 2u);
}

TEST_F(ArbiterTest, RepeatsOnOneSideAreNoSecondCopies) {
  arrive(UROCE_FEED_A, 1);
  EXPECT_EQ(arrive(UROCE_FEED_A, 1), UROCE_FEED_DUPLICATE);
  EXPECT_EQ(side(UROCE_FEED_A).repeats, 1u);
  EXPECT_EQ(side(UROCE_FEED_A).losses, 0u);
}

TEST_F(ArbiterTest, UnreadablePacketsAndImpossibleNumbersChangeNothing) {
  const char shorter = 0;
  EXPECT_EQ(arbiter_.arrive(UROCE_FEED_A, &shorter, 1, now_, arrival_), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(arrive(UROCE_FEED_A, 1, 65), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(arrive(UROCE_FEED_A, UINT64_MAX, 1), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(side(UROCE_FEED_A).unreadable, 3u);
  EXPECT_EQ(arrive(UROCE_FEED_A, 1), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.missing, 0u);
}

TEST_F(ArbiterTest, WithoutAFirstNumberTheFirstPacketSaysIt) {
  arbiter_.restart(0);
  EXPECT_EQ(arrive(UROCE_FEED_B, 777), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.missing, 0u);
  EXPECT_EQ(arrive(UROCE_FEED_A, 776), UROCE_FEED_STALE);
  arbiter_.restart(1);
  EXPECT_EQ(arrive(UROCE_FEED_A, 1), UROCE_FEED_NEW);
}

TEST_F(ArbiterTest, RangesWithoutRoomAreCounted) {
  arbiter_ = make(64, 1, 1, 1);
  for (uint64_t sequence = 2; sequence <= 8; sequence += 2) arrive(UROCE_FEED_A, sequence);
  now_ += 10;
  uroce_feed_range range{};
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(range.first, 1u);
  EXPECT_FALSE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(arbiter_.statistics().lost, 4u);
  EXPECT_EQ(arbiter_.statistics().lost_unsaid, 3u);
}

// Two lossy, jittery sides against a model that keeps everything.
TEST_F(ArbiterTest, AgreesWithAModel) {
  struct Event {
    uint64_t time;
    uroce_feed_side side;
    uint64_t sequence;
  };
  constexpr uint64_t kMessages = 20000;
  Random random(20261201);
  std::vector<Event> events;
  for (uint64_t sequence = 1; sequence <= kMessages; ++sequence) {
    for (const uroce_feed_side side : {UROCE_FEED_A, UROCE_FEED_B}) {
      if (random.below(10) == 0) continue;
      events.push_back({sequence * 100 + random.below(500), side, sequence});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  arbiter_ = make(64, 0, 1, 4096);
  std::map<uint64_t, int> delivered;
  std::map<uint64_t, uint64_t> copies;
  for (const Event& event : events) {
    now_ = event.time;
    const uroce_feed_verdict verdict = arrive(event.side, event.sequence);
    EXPECT_EQ(verdict == UROCE_FEED_NEW, copies[event.sequence]++ == 0);
    delivered[event.sequence] += verdict == UROCE_FEED_NEW;
  }
  arrive(UROCE_FEED_A, kMessages + 65, 0);  // everything leaves
  uint64_t lost = 0;
  uroce_feed_range range{};
  while (arbiter_.take_lost(now_, range)) {
    for (uint64_t i = 0; i < range.count; ++i) {
      if (range.first + i > kMessages) continue;
      EXPECT_EQ(delivered.count(range.first + i), 0u) << range.first + i;
      ++lost;
    }
  }
  EXPECT_EQ(delivered.size() + lost, kMessages);
  EXPECT_EQ(arbiter_.statistics().delivered, delivered.size());
  EXPECT_EQ(side(UROCE_FEED_A).wins + side(UROCE_FEED_A).losses + side(UROCE_FEED_B).wins +
                side(UROCE_FEED_B).losses,
            events.size());
}

}  // namespace
}  // namespace uroce::feed
