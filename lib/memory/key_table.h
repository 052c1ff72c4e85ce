// SPDX-License-Identifier: BSD-3-Clause
// The device's table of L_Keys and R_Keys: written by control threads, read by every engine.
//
// A slot is published by one release store of its key and read with one acquire load and a
// full-key compare; there is no reference count and no lock. A key that was unpublished may still
// be in use by an engine that looked it up before: the slot is written again only after a grace
// period (base/epoch.h), which is the device's duty.
#ifndef UROCE_MEMORY_KEY_TABLE_H
#define UROCE_MEMORY_KEY_TABLE_H

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "base/types.h"
#include "memory/region.h"

namespace uroce::memory {

enum class KeyVerdict : uint8_t {
  kGood,
  kUnknownKey,   // no such key, or no longer
  kWrongDomain,  // of another protection domain
  kNoAccess,     // a right that was asked for is missing
  kOutOfRange,   // not wholly inside the region
};

class KeyTable {
 public:
  // Slots 1 … capacity; slot 0 is never valid. Allocates here only. capacity < 2^24.
  explicit KeyTable(uint32_t capacity);

  uint32_t capacity() const { return capacity_; }

  // Control threads, one at a time. The slot must be unpublished and past its grace period.
  void publish(Key key, const Region& region);
  void unpublish(Key key);

  // Any engine. On kGood `pointer` is where `address` lies in this process. `wanted` is a mask of
  // Access; the whole of [address, address + length) must lie inside the region (no wrap-around).
  KeyVerdict translate(Key key, uint32_t pd, uint32_t wanted, uint64_t address, uint64_t length,
                       uint8_t*& pointer) const {
    if (key.index() == 0 || key.index() > capacity_) return KeyVerdict::kUnknownKey;
    const Slot& slot = slots_[key.index()];
    if (slot.key.load(std::memory_order_acquire) != key.value()) return KeyVerdict::kUnknownKey;
    const Region& region = slot.region;
    if (region.pd != pd) return KeyVerdict::kWrongDomain;
    if ((wanted & region.access) != wanted) return KeyVerdict::kNoAccess;
    const uint64_t offset = address - region.iova;
    if (address < region.iova || offset > region.length || length > region.length - offset) {
      return KeyVerdict::kOutOfRange;
    }
    pointer = region.base + offset;
    return KeyVerdict::kGood;
  }

  // The same for a request that names no range: all that the key opens is `range` on kGood.
  KeyVerdict whole(Key key, uint32_t pd, uint32_t wanted, std::span<uint8_t>& range) const;

 private:
  struct alignas(64) Slot {
    std::atomic<uint32_t> key{0};
    Region region;
  };
  const uint32_t capacity_;
  const std::unique_ptr<Slot[]> slots_;
};

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_KEY_TABLE_H
