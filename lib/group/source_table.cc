// SPDX-License-Identifier: BSD-3-Clause
// Adding and removing. See source_table.h for the structure.
#include "group/source_table.h"

namespace uroce::group {

SourceTable::SourceTable(uint32_t sources_max, uint64_t seed)
    : hash_(seed), index_(sources_max), entries_(std::make_unique<Entry[]>(sources_max)) {
  for (uint32_t slot = sources_max; slot-- > 0;) {
    entries_[slot].next = free_;
    free_ = slot;
  }
}

uint32_t SourceTable::add(uint32_t owner, SourceList& list, const Key& key) {
  const uint32_t slot = free_;
  if (slot == kNoSlot) return kNoSlot;
  free_ = entries_[slot].next;
  entries_[slot] = {.address = key.address, .owner = owner, .previous = list.last};
  (list.last == kNoSlot ? list.first : entries_[list.last].next) = slot;
  list.last = slot;
  ++list.count;
  index_.insert(hash_(owner, key.hash), slot);
  return slot;
}

void SourceTable::remove(SourceList& list, uint32_t slot) {
  index_.erase(entry_hash(slot), slot, [this](uint32_t other) { return entry_hash(other); });
  const Entry& entry = entries_[slot];
  (entry.previous == kNoSlot ? list.first : entries_[entry.previous].next) = entry.next;
  (entry.next == kNoSlot ? list.last : entries_[entry.next].previous) = entry.previous;
  --list.count;
  entries_[slot] = {.next = free_};
  free_ = slot;
}

void SourceTable::clear(SourceList& list) {
  while (list.first != kNoSlot) remove(list, list.first);
}

}  // namespace uroce::group
