// SPDX-License-Identifier: BSD-3-Clause
// Sets of source addresses, each of an owner that is known by a number: a group, or a membership.
//
// One fixed array of entries for all owners. An owner holds the list of its own (doubly linked); a
// hash index over (owner, address) finds an entry, adds and removes it in constant time, however
// many sources an owner has. The hash is keyed. Nothing is allocated after construction.
#ifndef UROCE_GROUP_SOURCE_TABLE_H
#define UROCE_GROUP_SOURCE_TABLE_H

#include <cstdint>
#include <memory>

#include "base/keyed_hash.h"
#include "base/slot_index.h"
#include "base/types.h"

namespace uroce::group {

// What an owner keeps of its set.
struct SourceList {
  uint32_t first = kNoSlot;  // in the order in which they were added
  uint32_t last = kNoSlot;
  uint32_t count = 0;
};

class SourceTable {
 public:
  // For at most `sources_max` entries, at least 1.
  SourceTable(uint32_t sources_max, uint64_t seed);

  // An address, ready for many look-ups.
  struct Key {
    Gid address;
    uint64_t hash = 0;
  };
  Key key(const Gid& address) const { return {address, hash_(address)}; }

  // The entry, or kNoSlot.
  uint32_t find(uint32_t owner, const Key& key) const {
    return index_.find(hash_(owner, key.hash), [&](uint32_t slot) {
      return entries_[slot].owner == owner && entries_[slot].address == key.address;
    });
  }

  // The new entry, or kNoSlot when all are taken. The owner must not have the address yet.
  uint32_t add(uint32_t owner, SourceList& list, const Key& key);
  // `list` is that of the entry's owner.
  void remove(SourceList& list, uint32_t slot);
  void clear(SourceList& list);

  // The owner's next entry after this one, or kNoSlot.
  uint32_t next(uint32_t slot) const { return entries_[slot].next; }
  const Gid& address(uint32_t slot) const { return entries_[slot].address; }
  uint32_t owner(uint32_t slot) const { return entries_[slot].owner; }  // kNoSlot: not in use
  uint32_t size() const { return index_.size(); }
  bool is_full() const { return free_ == kNoSlot; }

 private:
  struct Entry {
    Gid address{};
    uint32_t owner = kNoSlot;
    uint32_t next = kNoSlot;
    uint32_t previous = kNoSlot;
  };
  uint64_t entry_hash(uint32_t slot) const {
    return hash_(entries_[slot].owner, hash_(entries_[slot].address));
  }

  KeyedHash hash_;
  SlotIndex index_;
  std::unique_ptr<Entry[]> entries_;
  uint32_t free_ = kNoSlot;  // linked through Entry::next
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_SOURCE_TABLE_H
