// SPDX-License-Identifier: BSD-3-Clause
// TSC conversion is monotonic, does not overflow and stays within a part in a million.
#include "worker/clock.h"

#include <gtest/gtest.h>

namespace uroce::worker {
namespace {

TEST(TscClock, ConvertsWithoutDriftOrOverflow) {
  for (const uint64_t hz : {1'000'000'000ull, 2'445'000'000ull, 5'123'456'789ull}) {
    const TscClock clock(hz, 1000);
    EXPECT_EQ(clock.at(1000), Time{});
    for (const uint64_t seconds : {1ull, 3600ull, 86400ull * 3650}) {
      const auto ns = static_cast<double>(clock.at(1000 + hz * seconds).time_since_epoch().count());
      const double wanted = static_cast<double>(seconds) * 1e9;
      EXPECT_NEAR(ns / wanted, 1.0, 1e-6) << hz << " " << seconds;
    }
  }
}

TEST(TscClock, NeverRunsBackwards) {
  const TscClock clock(2'445'000'000ull);
  Time last{};
  for (uint64_t tsc = 0; tsc < 10000; ++tsc) {
    const Time now = clock.at(tsc);
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace uroce::worker
