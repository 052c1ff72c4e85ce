// SPDX-License-Identifier: BSD-3-Clause
// The window of a feed: what it knows, over its whole ring and the wrap of its entries.
#include "feed/window.h"

#include <gtest/gtest.h>

namespace uroce::feed {
namespace {

Window window_of(uint32_t room) { return {std::make_unique<Message[]>(room), room}; }

TEST(FeedWindow, KnowsFromBeginToEnd) {
  Window window = window_of(64);
  window.restart(1000);
  EXPECT_TRUE(window.empty());
  EXPECT_FALSE(window.knows(1000));
  for (int i = 0; i < 64; ++i) window.enter(7);
  EXPECT_TRUE(window.full());
  EXPECT_TRUE(window.knows(1000));
  EXPECT_TRUE(window.knows(1063));
  EXPECT_FALSE(window.knows(999));
  EXPECT_FALSE(window.knows(1064));
}

TEST(FeedWindow, EachNumberHasItsEntry) {
  Window window = window_of(64);
  window.restart(1);
  for (uint64_t sequence = 1; sequence < 300; ++sequence) {
    if (window.full()) {
      EXPECT_EQ(window.leave().arrival, sequence - 64);
    }
    window.enter(5);
    EXPECT_EQ(window[sequence].arrival, 0u);
    EXPECT_EQ(window[sequence].sides, 0u);
    window[sequence].arrival = sequence;
  }
  EXPECT_EQ(window.begin(), 300u - 64);
  EXPECT_EQ(window.end(), 300u);
}

}  // namespace
}  // namespace uroce::feed
