// SPDX-License-Identifier: BSD-3-Clause
// Arbitration, message by message: who wins, what is a gap on one side and on both, what is late.
#include "feed/arbiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
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
  static constexpr uint64_t kJumpMax = 1'000'000;

  static Arbiter make(uint32_t room, uint64_t patience_ns, uint64_t first, uint32_t ranges = 16) {
    return {{read_packet, nullptr, room, ranges, patience_ns, first, kJumpMax},
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
  arbiter_.restart(0);
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
  EXPECT_EQ(arrive(UROCE_FEED_A, 3), UROCE_FEED_STALE);
  EXPECT_EQ(arbiter_.statistics().delivered, 2u);
}

// Each missing message has its own time, whatever comes in front of it meanwhile.
TEST_F(ArbiterTest, AGapThatIsFilledInFrontGivesTheRestNoMoreTime) {
  arbiter_ = make(64, 100, 1);
  now_ = 0;
  arrive(UROCE_FEED_A, 6);
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    now_ = 30 * sequence;
    EXPECT_EQ(arrive(UROCE_FEED_B, sequence), UROCE_FEED_NEW);
  }
  arrive(UROCE_FEED_B, 8);  // at 90: 7 has until 190
  uroce_feed_range range{};
  EXPECT_FALSE(arbiter_.take_lost(99, range));
  ASSERT_TRUE(arbiter_.take_lost(100, range));
  EXPECT_EQ(range.first, 4u);
  EXPECT_EQ(range.count, 2u);
  EXPECT_FALSE(arbiter_.take_lost(189, range));
  ASSERT_TRUE(arbiter_.take_lost(190, range));
  EXPECT_EQ(range.first, 7u);
}

TEST_F(ArbiterTest, ASideThatLagsByMoreThanThePatienceHasNoGaps) {
  constexpr uint64_t kLag = 10;  // messages of 500 ns: five times the patience
  uroce_feed_range range{};
  for (uint64_t sequence = 1; sequence <= 1000; ++sequence, now_ += 500) {
    arrive(UROCE_FEED_A, sequence);
    EXPECT_FALSE(arbiter_.take_lost(now_, range));
    if (sequence <= kLag) continue;
    EXPECT_EQ(arrive(UROCE_FEED_B, sequence - kLag), UROCE_FEED_DUPLICATE);
    EXPECT_EQ(arrival_.late_ns, 5000u);
  }
  EXPECT_EQ(side(UROCE_FEED_B).gaps, 0u);
  EXPECT_EQ(side(UROCE_FEED_B).stale, 0u);
  EXPECT_EQ(side(UROCE_FEED_B).losses, 990u);
  EXPECT_EQ(side(UROCE_FEED_B).late[12], 990u);
  arbiter_.restart(1);  // the end of it: what B still owes
  EXPECT_EQ(side(UROCE_FEED_B).gaps, kLag);
}

TEST_F(ArbiterTest, ASideThatBringsWhatWasReportedLostIsOverdueAndHasNoGap) {
  arrive(UROCE_FEED_A, 2);
  now_ += 1000;
  uroce_feed_range range{};
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(arrive(UROCE_FEED_B, 1), UROCE_FEED_STALE);
  EXPECT_EQ(side(UROCE_FEED_B).overdue, 1u);
  EXPECT_FALSE(arbiter_.is_fresh(1));
  EXPECT_EQ(arrive(UROCE_FEED_B, 1, 2), UROCE_FEED_DUPLICATE);  // 2 was here
  arbiter_.restart(0);
  EXPECT_EQ(side(UROCE_FEED_B).gaps, 0u);
  EXPECT_EQ(side(UROCE_FEED_A).gaps, 1u);
  EXPECT_EQ(arbiter_.statistics().lost, 1u);
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
  arbiter_.restart(0);
  EXPECT_EQ(side(UROCE_FEED_A).gaps, 999'998u);
}

// One broken number must not end the feed.
TEST_F(ArbiterTest, AWildNumberIsNotBelieved) {
  arrive(UROCE_FEED_A, 1);
  for (const uint64_t wild : {uint64_t{1} << 62, UINT64_MAX - 1, 2 + kJumpMax + 1}) {
    EXPECT_EQ(arrive(UROCE_FEED_A, wild), UROCE_FEED_UNREADABLE) << wild;
    EXPECT_EQ(arrival_.sequence, wild);
    EXPECT_EQ(arrive(UROCE_FEED_A, wild), UROCE_FEED_UNREADABLE) << "again " << wild;
    EXPECT_EQ(arrive(UROCE_FEED_B, wild + 1, 0), UROCE_FEED_UNREADABLE) << "the other side";
    EXPECT_FALSE(arbiter_.is_fresh(1));
    EXPECT_EQ(arrive(UROCE_FEED_B, 1, 0), UROCE_FEED_HEARTBEAT);
    EXPECT_EQ(arrive(UROCE_FEED_A, 1, 0), UROCE_FEED_HEARTBEAT);
    EXPECT_EQ(arrive(UROCE_FEED_A, wild + 1, 0), UROCE_FEED_UNREADABLE) << "not the next packet";
    EXPECT_EQ(arrive(UROCE_FEED_A, 1), UROCE_FEED_DUPLICATE);
  }
  EXPECT_EQ(side(UROCE_FEED_A).unreadable, 9u);
  EXPECT_EQ(side(UROCE_FEED_B).unreadable, 3u);
  EXPECT_EQ(arrive(UROCE_FEED_A, 2), UROCE_FEED_NEW);
  EXPECT_EQ(arbiter_.statistics().lost, 0u);
}

TEST_F(ArbiterTest, AJumpIsBelievedWhenItsSideGoesOnFromThere) {
  constexpr uint64_t kFar = uint64_t{1} << 62;
  arrive(UROCE_FEED_A, 1);
  arrive(UROCE_FEED_B, 1);
  EXPECT_EQ(arrive(UROCE_FEED_A, kFar, 2), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(arrive(UROCE_FEED_B, 2), UROCE_FEED_NEW);  // the other side is still behind
  EXPECT_EQ(arrive(UROCE_FEED_A, kFar + 2, 2), UROCE_FEED_NEW);
  EXPECT_EQ(arrival_.missing, kFar - 1);
  EXPECT_EQ(arrive(UROCE_FEED_B, kFar, 2), UROCE_FEED_NEW);  // the one that A had to prove
  uroce_feed_range range{};
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(range.first, 3u);
  EXPECT_EQ(range.first + range.count, kFar + 4 - 64);
  EXPECT_EQ(side(UROCE_FEED_B).gaps, range.count);
  EXPECT_EQ(side(UROCE_FEED_A).gaps, range.count + 1);
}

TEST_F(ArbiterTest, NumbersDoNotWrap) {
  arbiter_.restart(UINT64_MAX - 100);
  EXPECT_EQ(arrive(UROCE_FEED_A, UINT64_MAX - 2, 2), UROCE_FEED_NEW);
  EXPECT_EQ(arrive(UROCE_FEED_A, UINT64_MAX, 0), UROCE_FEED_HEARTBEAT);
  EXPECT_EQ(arrive(UROCE_FEED_A, UINT64_MAX, 1), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(arrive(UROCE_FEED_A, UINT64_MAX - 1, 64), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(arrive(UROCE_FEED_A, 5), UROCE_FEED_STALE);
  EXPECT_EQ(arrive(UROCE_FEED_B, UINT64_MAX - 1), UROCE_FEED_DUPLICATE);
}

// What is not wanted any more is still counted, and said to be untold.
TEST_F(ArbiterTest, ARestartAccountsForWhatItForgets) {
  arrive(UROCE_FEED_A, 4, 2);  // 1 … 3 are missing
  now_ += 1000;
  arrive(UROCE_FEED_A, 8);  // 6, 7
  uroce_feed_range range{};
  ASSERT_TRUE(arbiter_.take_lost(now_, range));
  arrive(UROCE_FEED_A, 1000);  // 6, 7 and others are reported
  const uint64_t lost = arbiter_.statistics().lost;
  EXPECT_EQ(lost, 3u + 2 + 1001 - 64 - 9);
  arbiter_.restart(1);
  EXPECT_FALSE(arbiter_.take_lost(now_, range));
  EXPECT_EQ(arbiter_.statistics().lost, 1000u - 4);
  EXPECT_EQ(arbiter_.statistics().lost_unsaid, 1000u - 4 - 3);
  EXPECT_EQ(side(UROCE_FEED_A).gaps, 1000u - 4);
  EXPECT_EQ(side(UROCE_FEED_B).gaps, 1000u);
  EXPECT_EQ(arrive(UROCE_FEED_B, 1), UROCE_FEED_NEW);
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

// Two lossy, jittery sides, one of which lags, against a model that keeps everything.
struct Event {
  uint64_t time;
  uroce_feed_side side;
  uint64_t sequence;
};

std::vector<Event> lossy_events(Random& random, uint64_t messages, uint64_t lag_ns) {
  std::vector<Event> events;
  for (uint64_t sequence = 1; sequence <= messages; ++sequence) {
    for (const uroce_feed_side side : {UROCE_FEED_A, UROCE_FEED_B}) {
      if (random.below(10) == 0) continue;
      const uint64_t lag = side == UROCE_FEED_B ? lag_ns : 0;
      events.push_back({sequence * 100 + random.below(500) + lag, side, sequence});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  return events;
}

// Message by message: who brought it, when it was found missing and whether it was given up.
struct Model {
  struct Known {
    bool brought[UROCE_FEED_SIDES] = {};
    bool delivered = false;
    bool given_up = false;
    uint64_t missing_since = UINT64_MAX;
  };

  explicit Model(uint64_t messages) : known(messages + 1) {}

  bool take(const Event& event) {
    for (; newest <= event.sequence; ++newest) known[newest].missing_since = event.time;
    Known& message = known[event.sequence];
    message.brought[event.side] = true;
    const bool is_new = !message.delivered && !message.given_up;
    message.delivered |= is_new;
    return is_new;
  }
  // The numbers whose patience is over now.
  std::vector<uint64_t> give_up(uint64_t now_ns, uint64_t patience_ns) {
    std::vector<uint64_t> numbers;
    for (uint64_t i = newest > 300 ? newest - 300 : 1; i < newest; ++i) {
      Known& message = known[i];
      if (message.delivered || message.given_up) continue;
      if (now_ns - message.missing_since < patience_ns) continue;
      message.given_up = true;
      numbers.push_back(i);
    }
    return numbers;
  }
  uint64_t gaps(uroce_feed_side side) const {
    uint64_t count = 0;
    for (size_t i = 1; i < newest; ++i) count += !known[i].brought[side];
    return count;
  }

  std::vector<Known> known;
  uint64_t newest = 1;
};

TEST_F(ArbiterTest, AgreesWithAModel) {
  constexpr uint64_t kMessages = 5000;
  for (const uint64_t patience : {300u, 1000u, 2500u}) {
    for (const uint64_t lag : {0u, 900u, 6000u}) {
      SCOPED_TRACE(std::to_string(patience) + " ns patience, B lags by " + std::to_string(lag));
      Random random(20261201 + patience + lag);
      arbiter_ = make(256, patience, 1, 4096);
      Model model(kMessages);
      const std::vector<Event> events = lossy_events(random, kMessages, lag);
      for (const Event& event : events) {
        now_ = event.time;
        ASSERT_EQ(arrive(event.side, event.sequence) == UROCE_FEED_NEW, model.take(event));
        std::vector<uint64_t> told;
        uroce_feed_range range{};
        while (arbiter_.take_lost(now_, range)) {
          for (uint64_t i = 0; i < range.count; ++i) told.push_back(range.first + i);
        }
        ASSERT_EQ(told, model.give_up(now_, patience)) << "at " << now_;
      }
      arbiter_.restart(0);
      uint64_t copies = 0;
      for (const uroce_feed_side of : {UROCE_FEED_A, UROCE_FEED_B}) {
        EXPECT_EQ(side(of).gaps, model.gaps(of));
        EXPECT_EQ(side(of).stale, side(of).overdue);
        copies += side(of).wins + side(of).losses + side(of).overdue;
      }
      EXPECT_EQ(copies, events.size());
    }
  }
}

}  // namespace
}  // namespace uroce::feed
