// SPDX-License-Identifier: BSD-3-Clause
// Tests of the keys that are handed out: distinct, hard to guess, not back at once.
#include "device/key_allocator.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

namespace uroce::device {
namespace {

// Cases 55: keys do not follow one another.
TEST(KeyAllocator, KeysAreDistinctAndNotConsecutive) {
  SeededIdSource ids(1);
  KeyAllocator keys(1000, ids);
  std::set<uint32_t> seen;
  int neighbours = 0;
  uint32_t last_index = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto key = keys.take();
    ASSERT_TRUE(key);
    EXPECT_GE(key->index(), 1u);
    EXPECT_LE(key->index(), 1000u);
    EXPECT_TRUE(seen.insert(key->index()).second);
    neighbours += key->index() == last_index + 1 ? 1 : 0;
    last_index = key->index();
  }
  EXPECT_LT(neighbours, 10);
  EXPECT_FALSE(keys.take());
}

// Cases 53.
TEST(KeyAllocator, ARetiredKeyIsNotTheNextOneOnItsIndex) {
  SeededIdSource ids(2);
  KeyAllocator keys(10, ids);
  std::deque<Key> live;
  std::vector<uint32_t> last(11);
  for (int i = 0; i < 200'000; ++i) {
    if (live.size() == 10) {
      keys.give(live.front());
      live.pop_front();
    }
    const Key key = *keys.take();
    EXPECT_NE(key.value(), last[key.index()]);
    EXPECT_NE(key.value(), 0u);
    last[key.index()] = key.value();
    live.push_back(key);
  }
}

TEST(KeyAllocator, AReturnedIndexRestsBehindAllOthers) {
  SeededIdSource ids(3);
  KeyAllocator keys(4, ids);
  const Key first = *keys.take();
  keys.give(first);
  for (int i = 0; i < 3; ++i) EXPECT_NE(keys.take()->index(), first.index());
  EXPECT_EQ(keys.take()->index(), first.index());
}

}  // namespace
}  // namespace uroce::device
