// SPDX-License-Identifier: BSD-3-Clause
// A broken invariant ends the process with its own words; a kept one does nothing.
#include "base/assert.h"

#include <gtest/gtest.h>

namespace {

TEST(Assert, ABrokenInvariantEndsTheProcessAndNamesItself) {
  EXPECT_DEATH(UROCE_ASSERT(1 + 1 == 3), "broken invariant: 1 \\+ 1 == 3 .*assert_test.cc:");
}

TEST(Assert, AKeptInvariantIsEvaluatedOnce) {
  int evaluations = 0;
  UROCE_ASSERT(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(Assert, TheDearOnesAreNotEvaluatedInRelease) {
  int evaluations = 0;
  [[maybe_unused]] const auto evaluate = [&] { return ++evaluations == 1; };
  UROCE_DEBUG_ASSERT(evaluate());
#ifdef UROCE_DEBUG
  EXPECT_EQ(evaluations, 1);
#else
  EXPECT_EQ(evaluations, 0);
#endif
}

}  // namespace
