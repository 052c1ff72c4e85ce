// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: each ring is heard once, and none is lost between threads.
#include "engine/doorbell.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace uroce::engine {
namespace {

std::vector<uint32_t> heard(Doorbells& bells) {
  std::vector<uint32_t> slots;
  bells.collect([&](uint32_t slot) { slots.push_back(slot); });
  return slots;
}

TEST(Doorbells, EachRingIsHeardOnce) {
  for (const bool exclusive : {true, false}) {
    Doorbells bells(200, exclusive);
    EXPECT_TRUE(heard(bells).empty());
    bells.ring(199);
    bells.ring(0);
    bells.ring(64);
    bells.ring(64);
    EXPECT_EQ(heard(bells), (std::vector<uint32_t>{0, 64, 199}));
    EXPECT_TRUE(heard(bells).empty());
  }
}

TEST(Doorbells, ABellMayRingAgainWhileTheOthersAreHeard) {
  Doorbells bells(200, true);
  bells.ring(3);
  int visits = 0;
  bells.collect([&](uint32_t slot) {
    if (++visits == 1) bells.ring(slot);
  });
  EXPECT_EQ(heard(bells), std::vector<uint32_t>{3}) << "heard at the next collect at the latest";
}

// What was published before a ring is seen after it was heard, and the last ring is always heard.
TEST(Doorbells, NoRingIsLostBetweenThreads) {
  constexpr uint32_t kSlots = 130;
  constexpr uint32_t kPosts = 200'000;
  Doorbells bells(kSlots, false);
  std::vector<std::atomic<uint32_t>> published(kSlots);
  std::thread poster([&] {
    for (uint32_t i = 1; i <= kPosts; ++i) {
      const uint32_t slot = i * 7 % kSlots;
      published[slot].store(i, std::memory_order_release);
      bells.ring(slot);
    }
  });
  std::vector<uint32_t> seen(kSlots);
  const auto collect = [&] {
    bells.collect([&](uint32_t slot) { seen[slot] = published[slot].load(); });
  };
  while (published[kPosts * 7 % kSlots].load() != kPosts) collect();
  poster.join();
  collect();
  for (uint32_t slot = 0; slot < kSlots; ++slot) EXPECT_EQ(seen[slot], published[slot].load());
}

}  // namespace
}  // namespace uroce::engine
