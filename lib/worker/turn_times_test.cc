// SPDX-License-Identifier: BSD-3-Clause
// Turns of several threads, some of which have read the clock too early.
#include "worker/turn_times.h"

#include <gtest/gtest.h>

namespace uroce::worker {
namespace {

constexpr Time kStart{Duration(1'000'000)};
constexpr Duration kStep{2'000};

TEST(TurnTimes, ATurnBeginsWhenItSaysAndTheGapIsKnown) {
  TurnTimes times;
  EXPECT_EQ(times.begin(kStart), kStart);
  EXPECT_EQ(times.gap(), Duration(0));
  EXPECT_EQ(times.begin(kStart + kStep), kStart + kStep);
  EXPECT_EQ(times.gap(), kStep);
}

TEST(TurnTimes, AThreadThatWasLateWithItsTimeMakesNoGap) {
  TurnTimes times;
  times.begin(kStart + kStep);
  EXPECT_EQ(times.begin(kStart), kStart + kStep);
  EXPECT_EQ(times.gap(), Duration(0));
  EXPECT_EQ(times.begin(kStart + 2 * kStep), kStart + 2 * kStep);
  EXPECT_EQ(times.gap(), kStep) << "since the turn before, not since the late thread looked";
}

}  // namespace
}  // namespace uroce::worker
