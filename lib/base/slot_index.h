// SPDX-License-Identifier: BSD-3-Clause
// A hash index over slots that somebody else holds: finds the slot of a key in constant time,
// never grows, never allocates after construction.
//
// Open addressing with linear probing. A bucket holds a slot number and 32 bits of the key's hash;
// the key itself lies in the owner's slot, so the owner passes the comparison. There are at least
// twice as many buckets as slots, so a probe is short and always meets an empty bucket.
// Deletion shifts back: the bucket that became empty is filled by the next entry of its run that
// may lie there (its home bucket is not behind the hole), until the run ends. So there are no
// tombstones, and no churn makes the index slower.
#ifndef UROCE_BASE_SLOT_INDEX_H
#define UROCE_BASE_SLOT_INDEX_H

#include <bit>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace uroce {

inline constexpr uint32_t kNoSlot = ~uint32_t{0};

class SlotIndex {
 public:
  // For at most `slots_max` entries (1 … 2^30).
  explicit SlotIndex(uint32_t slots_max)
      : slots_max_(slots_max),
        mask_(std::bit_ceil(uint64_t{slots_max} * 2) - 1),
        buckets_(std::make_unique<Bucket[]>(mask_ + 1)) {
    UROCE_ASSERT(slots_max > 0 && slots_max <= (1u << 30));
  }

  // The slot for which `is_it(slot)` holds among those of this hash, or kNoSlot.
  template <typename Equal>
  uint32_t find(uint64_t hash, Equal is_it) const {
    const uint32_t tag = tag_of(hash);
    for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Bucket bucket = buckets_[at];
      if (bucket.slot == kNoSlot) return kNoSlot;
      if (bucket.tag == tag && is_it(bucket.slot)) return bucket.slot;
    }
  }

  // The key must not be in the index, and there must be room for it.
  void insert(uint64_t hash, uint32_t slot) {
    UROCE_ASSERT(size_ < slots_max_);
    uint64_t at = hash & mask_;
    while (buckets_[at].slot != kNoSlot) at = (at + 1) & mask_;
    buckets_[at] = {tag_of(hash), slot};
    ++size_;
  }

  // `slot` must be in the index under `hash`. `hash_of(slot)` gives the hash of any slot in it.
  template <typename HashOf>
  void erase(uint64_t hash, uint32_t slot, HashOf hash_of) {
    uint64_t hole = hash & mask_;
    while (buckets_[hole].slot != slot) {
      UROCE_ASSERT(buckets_[hole].slot != kNoSlot);
      hole = (hole + 1) & mask_;
    }
    for (uint64_t at = (hole + 1) & mask_; buckets_[at].slot != kNoSlot; at = (at + 1) & mask_) {
      const uint64_t home = hash_of(buckets_[at].slot) & mask_;
      if (((at - home) & mask_) < ((at - hole) & mask_)) continue;  // its home is behind the hole
      buckets_[hole] = buckets_[at];
      hole = at;
    }
    buckets_[hole] = Bucket{};
    --size_;
  }

  uint32_t size() const { return size_; }

 private:
  struct Bucket {
    uint32_t tag = 0;
    uint32_t slot = kNoSlot;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  uint32_t slots_max_;
  uint32_t size_ = 0;
  uint64_t mask_;
  std::unique_ptr<Bucket[]> buckets_;
};

}  // namespace uroce

#endif  // UROCE_BASE_SLOT_INDEX_H
