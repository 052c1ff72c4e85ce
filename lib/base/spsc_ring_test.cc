// SPDX-License-Identifier: BSD-3-Clause
// The ring keeps order, is bounded, and crosses threads.
#include "base/spsc_ring.h"

#include <gtest/gtest.h>

#include <thread>

namespace uroce {
namespace {

TEST(SpscRing, IsBoundedAndInOrder) {
  SpscRing<int> ring(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(i));
  EXPECT_FALSE(ring.push(4));
  int value = -1;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(ring.pop(value));
    EXPECT_EQ(value, i);
  }
  EXPECT_FALSE(ring.pop(value));
}

TEST(SpscRing, CarriesAMillionItemsBetweenThreadsInOrder) {
  constexpr uint32_t kCount = 1000000;
  SpscRing<uint32_t> ring(256);
  std::thread producer([&ring] {
    for (uint32_t i = 0; i < kCount;) {
      if (ring.push(i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  uint32_t expected = 0;
  while (expected < kCount) {
    uint32_t value = 0;
    if (!ring.pop(value)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(value, expected++);
  }
  producer.join();
}

}  // namespace
}  // namespace uroce
