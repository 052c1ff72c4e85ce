// SPDX-License-Identifier: BSD-3-Clause
// Publishing and unpublishing keys.
#include "memory/key_table.h"

#include "base/assert.h"

namespace uroce::memory {

KeyTable::KeyTable(uint32_t capacity)
    : capacity_(capacity), slots_(std::make_unique<Slot[]>(size_t{capacity} + 1)) {
  UROCE_ASSERT(capacity > 0 && capacity < (1u << 24));
}

void KeyTable::publish(Key key, const Region& region) {
  UROCE_ASSERT(key.index() > 0 && key.index() <= capacity_ && region.pd != 0);
  Slot& slot = slots_[key.index()];
  UROCE_ASSERT(slot.key.load(std::memory_order_relaxed) == 0);
  slot.region = region;
  slot.key.store(key.value(), std::memory_order_release);
}

void KeyTable::unpublish(Key key) {
  Slot& slot = slots_[key.index()];
  UROCE_ASSERT(slot.key.load(std::memory_order_relaxed) == key.value());
  slot.key.store(0, std::memory_order_release);
}

KeyVerdict KeyTable::whole(Key key, uint32_t pd, uint32_t wanted, std::span<uint8_t>& range) const {
  if (key.index() == 0 || key.index() > capacity_) return KeyVerdict::kUnknownKey;
  const Region& region = slots_[key.index()].region;
  uint8_t* first = nullptr;
  const KeyVerdict verdict = translate(key, pd, wanted, region.iova, region.length, first);
  range = {first, region.length};
  return verdict;
}

}  // namespace uroce::memory
