// SPDX-License-Identifier: BSD-3-Clause
// Which engines of a device have members of a group: what an engine must know to offer a multicast
// packet to the others, whose tables it cannot read.
//
// A counter for each engine and each class of groups, the class being a keyed hash of the address.
// So the answer may be yes for a group that only shares its class (one in 65,536), and is never
// no for one that has members. Of a device's only engine nobody asks: one class will do.
#ifndef UROCE_ENGINE_GROUP_PRESENCE_H
#define UROCE_ENGINE_GROUP_PRESENCE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/keyed_hash.h"
#include "base/types.h"

namespace uroce::engine {

class GroupPresence {
 public:
  // Allocates here only. `seed`: random in the product.
  GroupPresence(uint32_t engines, uint64_t seed)
      : hash_(seed),
        classes_(engines == 1 ? 1 : kClassesMax),
        counts_(std::make_unique<std::atomic<uint32_t>[]>(engines * classes_)) {}

  // The engine that owns the membership.
  void add(uint32_t engine, const Gid& group) { at(engine, group).fetch_add(1, kRelaxed); }
  void remove(uint32_t engine, const Gid& group) { at(engine, group).fetch_sub(1, kRelaxed); }
  // Any engine.
  bool maybe(uint32_t engine, const Gid& group) const {
    return at(engine, group).load(kRelaxed) != 0;
  }

 private:
  static constexpr uint32_t kClassBits = 16;
  static constexpr size_t kClassesMax = size_t{1} << kClassBits;
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  std::atomic<uint32_t>& at(uint32_t engine, const Gid& group) const {
    return counts_[engine * classes_ + ((hash_(group) >> (64 - kClassBits)) & (classes_ - 1))];
  }

  const KeyedHash hash_;
  const size_t classes_;  // a power of two
  const std::unique_ptr<std::atomic<uint32_t>[]> counts_;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_GROUP_PRESENCE_H
