// SPDX-License-Identifier: BSD-3-Clause
// Ranges wait in order, neighbours become one, and there is an end to it.
#include "feed/lost_ranges.h"

#include <gtest/gtest.h>

namespace uroce::feed {
namespace {

LostRanges ranges_of(uint32_t room) { return {std::make_unique<uroce_feed_range[]>(room), room}; }

TEST(LostRanges, NeighboursBecomeOne) {
  LostRanges lost = ranges_of(2);
  EXPECT_TRUE(lost.add(10, 1));
  EXPECT_TRUE(lost.add(11, 3));
  EXPECT_TRUE(lost.add(20, 1));
  uroce_feed_range range{};
  ASSERT_TRUE(lost.take(range));
  EXPECT_EQ(range.first, 10u);
  EXPECT_EQ(range.count, 4u);
  ASSERT_TRUE(lost.take(range));
  EXPECT_EQ(range.first, 20u);
  EXPECT_EQ(range.count, 1u);
  EXPECT_FALSE(lost.take(range));
}

TEST(LostRanges, IsBoundedAndRoundInShape) {
  LostRanges lost = ranges_of(3);
  uroce_feed_range range{};
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(lost.add(10 * i, 1));
    ASSERT_TRUE(lost.take(range));
    EXPECT_EQ(range.first, 10 * i);
  }
  EXPECT_TRUE(lost.add(1000, 1));
  EXPECT_TRUE(lost.add(1010, 1));
  EXPECT_TRUE(lost.add(1020, 1));
  EXPECT_FALSE(lost.add(1030, 1));
  EXPECT_TRUE(lost.add(1021, 1));  // no new range: the newest grows
  EXPECT_EQ(lost.clear(), 4u);
  EXPECT_FALSE(lost.take(range));
}

}  // namespace
}  // namespace uroce::feed
