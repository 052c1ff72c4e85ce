// SPDX-License-Identifier: BSD-3-Clause
// The slot index and the deadline heap against plain models, and the keyed hash's spread.
#include "base/slot_index.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/due_heap.h"
#include "base/keyed_hash.h"
#include "base/random.h"

namespace uroce {
namespace {

// Many keys on few home buckets, so that runs are long, wrap around the end and are cut by holes.
TEST(SlotIndex, FindsWhatAMapFindsUnderChurnAndCollisions) {
  constexpr uint32_t kSlots = 48;
  for (uint64_t homes : {1u, 7u, 1000u}) {
    SlotIndex index(kSlots);
    Random random(homes);
    std::vector<uint64_t> key_of(kSlots);
    std::vector<uint32_t> free_slots;
    for (uint32_t i = 0; i < kSlots; ++i) free_slots.push_back(i);
    std::map<uint64_t, uint32_t> model;
    // Homes at the very end of the table: the run wraps.
    const auto hash = [&](uint64_t key) { return 125 + key % homes + ((key / 7) << 32); };
    for (int step = 0; step < 20000; ++step) {
      const uint64_t key = random.below(100);
      const auto found = index.find(hash(key), [&](uint32_t slot) { return key_of[slot] == key; });
      const auto known = model.find(key);
      ASSERT_EQ(found, known == model.end() ? kNoSlot : known->second);
      if (known != model.end()) {
        index.erase(hash(key), found, [&](uint32_t slot) { return hash(key_of[slot]); });
        free_slots.push_back(found);
        model.erase(known);
      } else if (!free_slots.empty()) {
        const uint32_t slot = free_slots.back();
        free_slots.pop_back();
        key_of[slot] = key;
        index.insert(hash(key), slot);
        model[key] = slot;
      }
      ASSERT_EQ(index.size(), model.size());
    }
  }
}

TEST(DueHeap, GivesTheSlotThatASortedSetGives) {
  constexpr uint32_t kSlots = 33;
  DueHeap heap(kSlots);
  std::map<uint32_t, Time> due;
  Random random(3);
  for (int step = 0; step < 20000; ++step) {
    const auto slot = static_cast<uint32_t>(random.below(kSlots));
    if (random.below(4) == 0) {
      heap.clear(slot);
      due.erase(slot);
    } else {
      due[slot] = Time(Duration(static_cast<int64_t>(random.below(50))));
      heap.set(slot, due[slot]);
    }
    std::set<std::pair<Time, uint32_t>> sorted;
    for (const auto& [s, t] : due) sorted.insert({t, s});
    ASSERT_EQ(heap.empty(), sorted.empty());
    ASSERT_EQ(heap.next(), sorted.empty() ? kNever : sorted.begin()->first);
    if (!sorted.empty()) {
      ASSERT_EQ(heap.first(), sorted.begin()->second);
    }
    ASSERT_EQ(heap.due(slot), due.contains(slot) ? due[slot] : kNever);
  }
}

TEST(KeyedHash, SpreadsNeighbouringValuesAndDependsOnTheSeed) {
  const KeyedHash one(1);
  const KeyedHash two(2);
  std::set<uint64_t> low_bits;
  for (uint32_t i = 0; i < 4096; ++i) {
    const Gid gid = Gid::from_ipv4(0xEF000000 + i);
    low_bits.insert(one(gid) & 4095);
    ASSERT_NE(one(gid), two(gid));
  }
  // 4096 balls in 4096 boxes leave about 63 % of the boxes used.
  EXPECT_GT(low_bits.size(), 2400u);
  EXPECT_LT(low_bits.size(), 2800u);
}

TEST(Random, DelaysLieWithinTheirBounds) {
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = random.delay_within(Duration(3));
    ASSERT_GE(delay.count(), 1);
    ASSERT_LE(delay.count(), 3);
  }
}

}  // namespace
}  // namespace uroce
