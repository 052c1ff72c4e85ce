// SPDX-License-Identifier: BSD-3-Clause
// The C calls: what they refuse, and one round through each.
#include <errno.h>
#include <gtest/gtest.h>
#include <uroce/multicast.h>

#include <cstring>

namespace {

int read_number(void* context, const void* data, uint32_t length, uint64_t* sequence,
                uint32_t* count) {
  if (length < 8) return -1;
  std::memcpy(sequence, data, 8);
  *count = 1;
  ++*static_cast<int*>(context);
  return 0;
}

TEST(FeedFace, RefusesWhatCannotBe) {
  uroce_feed* feed = nullptr;
  uroce_feed_attr attr{};
  EXPECT_EQ(uroce_feed_create(&attr, &feed), -EINVAL);  // no reader
  attr.reader = read_number;
  for (const uint32_t window : {1u, 32u, 100u, 1u << 25}) {
    attr.window = window;
    EXPECT_EQ(uroce_feed_create(&attr, &feed), -EINVAL) << window;
  }
  attr.window = 64;
  attr.lost_ranges = (1u << 20) + 1;
  EXPECT_EQ(uroce_feed_create(&attr, &feed), -EINVAL);
  EXPECT_EQ(feed, nullptr);
}

TEST(FeedFace, ArbitratesWithTheReaderOfTheApplication) {
  int reads = 0;
  uroce_feed_attr attr{};
  attr.reader = read_number;
  attr.reader_context = &reads;
  uroce_feed* feed = nullptr;
  ASSERT_EQ(uroce_feed_create(&attr, &feed), 0);
  const uint64_t number = 41;
  uroce_feed_arrival arrival{};
  EXPECT_EQ(uroce_feed_arrive(feed, UROCE_FEED_A, &number, 8, 100, &arrival), UROCE_FEED_NEW);
  EXPECT_EQ(arrival.sequence, 41u);
  EXPECT_EQ(uroce_feed_is_fresh(feed, 41), 1);
  EXPECT_EQ(uroce_feed_arrive(feed, UROCE_FEED_B, &number, 8, 103, nullptr), UROCE_FEED_DUPLICATE);
  EXPECT_EQ(uroce_feed_is_fresh(feed, 41), 0);
  EXPECT_EQ(uroce_feed_arrive(feed, UROCE_FEED_B, &number, 3, 103, nullptr), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(uroce_feed_arrive(feed, 2, &number, 8, 103, nullptr), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(reads, 2);
  const uint64_t next = 42;
  EXPECT_EQ(uroce_feed_arrive(feed, UROCE_FEED_A, &next, 8, 104, nullptr), UROCE_FEED_NEW);
  EXPECT_EQ(uroce_feed_arrive(feed, 2, &next, 8, 104, &arrival), UROCE_FEED_UNREADABLE);
  EXPECT_EQ(arrival.sequence, 0u);
  EXPECT_EQ(uroce_feed_is_fresh(feed, 42), 0);
  uroce_feed_statistics statistics;
  uroce_feed_query(feed, &statistics);
  EXPECT_EQ(statistics.side[UROCE_FEED_A].wins, 2u);
  EXPECT_EQ(statistics.side[UROCE_FEED_B].late[1], 1u);
  uroce_feed_range range;
  EXPECT_EQ(uroce_feed_lost(feed, 1000, &range), 0);
  uroce_feed_restart(feed, 1);
  EXPECT_EQ(uroce_feed_arrive(feed, UROCE_FEED_A, &number, 8, 200, &arrival), UROCE_FEED_NEW);
  EXPECT_EQ(arrival.missing, 40u);
  uroce_feed_destroy(feed);
}

}  // namespace
