// SPDX-License-Identifier: BSD-3-Clause
// Percentiles, and the pace of the stream.
#include "latencies.h"

#include <gtest/gtest.h>

#include "pace.h"

namespace uroce::market {
namespace {

TEST(Latencies, PercentilesAreTimesThatWereMeasured) {
  Latencies latencies;
  latencies.reserve(1000);
  for (uint64_t ns = 1000; ns >= 1; --ns) latencies.add(ns * 1000);
  EXPECT_EQ(latencies.percentile(500), 500'000u);
  EXPECT_EQ(latencies.percentile(990), 990'000u);
  EXPECT_EQ(latencies.percentile(999), 999'000u);
  EXPECT_EQ(latencies.percentile(1000), 1'000'000u);
  EXPECT_EQ(latencies.summary(),
            "p50 500.00  p99 990.00  p99.9 999.00  max 1000.00 us, 1000 samples");
}

TEST(Latencies, OneSampleIsEveryPercentileAndNoneIsSaid) {
  Latencies latencies;
  EXPECT_EQ(latencies.summary(), "no samples");
  latencies.reserve(1);
  latencies.add(7);
  EXPECT_EQ(latencies.percentile(1), 7u);
  EXPECT_EQ(latencies.percentile(999), 7u);
}

TEST(Pace, MessagesComeAtTheirRate) {
  Pace pace(1000, 8);  // one a millisecond
  EXPECT_EQ(pace.take(5'000'000), 0u);
  EXPECT_EQ(pace.take(5'999'999), 0u);
  EXPECT_EQ(pace.take(6'000'000), 1u);
  EXPECT_EQ(pace.take(8'500'000), 2u);
  EXPECT_EQ(pace.take(9'000'000), 1u) << "half a message was saved";
}

TEST(Pace, AStallIsNotCaughtUp) {
  Pace pace(1'000'000, 8);  // one a microsecond
  EXPECT_EQ(pace.take(1000), 0u);
  uint64_t taken = 0;
  for (int i = 0; i < 1000; ++i) taken += pace.take(1'000'000'000);
  EXPECT_EQ(taken, 1000u) << "a millisecond's worth";
}

}  // namespace
}  // namespace uroce::market
