// SPDX-License-Identifier: BSD-3-Clause
// The ring between two threads: nothing is lost, doubled, swapped or torn.
#include <gtest/gtest.h>

#include "base/spsc_ring.h"
#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

// Three words that belong together.
struct Item {
  uint64_t number = 0;
  uint64_t twice = 0;
  uint64_t complement = 0;
};

TEST(Ring, WhatOneThreadPushesTheOtherPopsWholeAndInOrder) {
  constexpr uint64_t kItems = 200'000;
  SpscRing<Item> ring(64);
  std::thread producer([&ring] {
    for (uint64_t i = 0; i < kItems;) {
      if (ring.push({i, 2 * i, ~i})) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kItems;) {
    Item item;
    if (!ring.pop(item)) {
      std::this_thread::yield();
      continue;
    }
    wrong += item.number != i || item.twice != 2 * i || item.complement != ~i ? 1 : 0;
    ++i;
  }
  producer.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(ring.empty());
}

// What a control thread puts into a mailbox: the memory behind the pointer goes with it, and back.
TEST(Ring, MemoryBehindAPointerChangesHands) {
  SpscRing<uint64_t*> there(4);
  SpscRing<uint64_t*> back(4);
  constexpr uint64_t kTurns = 4'000;
  std::thread other([&] {
    uint64_t* word = nullptr;
    for (uint64_t i = 0; i < kTurns; ++i) {
      while (!there.pop(word)) std::this_thread::yield();
      *word += 1;
      while (!back.push(word)) std::this_thread::yield();
    }
  });
  uint64_t word = 0;
  uint64_t* own = &word;
  for (uint64_t i = 0; i < kTurns; ++i) {
    ASSERT_TRUE(there.push(own));
    while (!back.pop(own)) std::this_thread::yield();
    ASSERT_EQ(*own, 2 * i + 1);
    *own += 1;
  }
  other.join();
}

}  // namespace
}  // namespace uroce::threads
