// SPDX-License-Identifier: BSD-3-Clause
// A switch whose queue is shorter than a burst.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(TailDrop, WhatTheSwitchLosesIsSentAgainUntilAllIsThere) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.paint();
  pair.world.fabric.configure({.mbps = 10'000, .queue_bytes = 8'000});
  pair.post_write(30'000);
  pair.run_for(milliseconds(100));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(30'000));
  EXPECT_GT(pair.world.counters().tail_drops, 0u);
}

TEST(TailDrop, AQueueThatPausesItsSendersInTimeLosesNothing) {
  Pair pair(PairOptions{.timeout = 14});
  pair.settle();
  pair.paint();
  pair.world.fabric.configure({.mbps = 10'000,
                               .queue_bytes = 60'000,
                               .pause_above = 8'000,
                               .pause_span = microseconds(10)});
  pair.post_write(30'000);
  pair.run_for(milliseconds(60));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(30'000));
  EXPECT_EQ(pair.world.counters().tail_drops, 0u);
  EXPECT_GT(pair.world.counters().pauses, 0u);
  EXPECT_EQ(pair.counters(0).retransmitted_packets.value(), 0u);
}

}  // namespace
}  // namespace uroce::sim
