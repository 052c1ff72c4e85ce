// SPDX-License-Identifier: BSD-3-Clause
// Loops are quiet when they turn and nothing moves, not when they stand still.
#include "worker/quiet.h"

#include <gtest/gtest.h>

namespace uroce::worker {
namespace {

constexpr Time kStart{Duration(1'000'000'000)};

TEST(Quiet, LoopsThatTurnAndMoveNothingAreQuietAfterAWhile) {
  LoopCounters a;
  LoopCounters b;
  Quiet quiet({&a, &b});
  EXPECT_FALSE(quiet.reached(kStart));
  a.turns.add(100);
  b.turns.add(100);
  EXPECT_FALSE(quiet.reached(kStart + Quiet::kLeast - Duration(1)));
  EXPECT_TRUE(quiet.reached(kStart + Quiet::kLeast));
}

TEST(Quiet, AFrameOfAnyLoopStartsTheWhileAnew) {
  LoopCounters a;
  LoopCounters b;
  Quiet quiet({&a, &b});
  Time now = kStart;
  for (int i = 0; i < 100; ++i) {  // a movement every 4 ms: never quiet
    EXPECT_FALSE(quiet.reached(now));
    now += Duration(4'000'000);
    a.turns.add(100);
    b.turns.add(100);
    ++b.busy_turns;
  }
  EXPECT_FALSE(quiet.reached(now));
  a.turns.add(100);
  b.turns.add(100);
  EXPECT_TRUE(quiet.reached(now + Quiet::kLeast));
}

TEST(Quiet, ALoopThatGotNoTurnsIsNotQuiet) {
  LoopCounters a;
  LoopCounters b;
  Quiet quiet({&a, &b});
  EXPECT_FALSE(quiet.reached(kStart));
  a.turns.add(100);
  b.turns.add(Quiet::kTurnsLeast - 1);
  EXPECT_FALSE(quiet.reached(kStart + 10 * Quiet::kLeast));
  ++b.turns;
  EXPECT_TRUE(quiet.reached(kStart + 10 * Quiet::kLeast));
}

}  // namespace
}  // namespace uroce::worker
