// SPDX-License-Identifier: BSD-3-Clause
// The walk that gather and scatter share: element by element, each checked before it is touched.
#ifndef UROCE_MEMORY_WALK_H
#define UROCE_MEMORY_WALK_H

#include <algorithm>
#include <span>

#include "base/assert.h"
#include "memory/key_table.h"

namespace uroce::memory {

// Calls visit(pointer, bytes) for each piece of [offset, offset + count) of the list.
template <typename Visit>
inline KeyVerdict walk(const KeyTable& keys, uint32_t pd, uint32_t wanted,
                       std::span<const Sge> list, uint64_t offset, uint32_t count, Visit&& visit) {
  for (const Sge& element : list) {
    if (count == 0) break;
    if (offset >= element.length) {
      offset -= element.length;
      continue;
    }
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(count, element.length - offset));
    uint8_t* pointer = nullptr;
    // The whole element is judged, not only the piece: a bad list fails at its first byte.
    const KeyVerdict verdict =
        keys.translate(Key(element.lkey), pd, wanted, element.address, element.length, pointer);
    if (verdict != KeyVerdict::kGood) return verdict;
    visit(pointer + offset, bytes);
    count -= bytes;
    offset = 0;
  }
  UROCE_ASSERT(count == 0);
  return KeyVerdict::kGood;
}

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_WALK_H
