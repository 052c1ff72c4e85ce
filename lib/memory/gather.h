// SPDX-License-Identifier: BSD-3-Clause
// Bytes from a work request's gather list into a packet.
#ifndef UROCE_MEMORY_GATHER_H
#define UROCE_MEMORY_GATHER_H

#include <cstring>
#include <span>

#include "memory/key_table.h"

namespace uroce::memory {

// Copies `count` bytes, from byte `offset` of the message that `list` describes, to `to`, checking
// each element's L_Key. Elements of length 0 are not looked at, their keys included. The list must
// describe at least offset + count bytes. On a refusal some bytes may have been copied.
KeyVerdict gather(const KeyTable& keys, uint32_t pd, std::span<const Sge> list, uint64_t offset,
                  uint8_t* to, uint32_t count);

// The same for a whole message of at least one byte; quicker where the list is one element, as for
// nearly every short message.
inline KeyVerdict gather_message(const KeyTable& keys, uint32_t pd, std::span<const Sge> list,
                                 uint8_t* to, uint32_t count) {
  if (list.size() != 1) return gather(keys, pd, list, 0, to, count);
  uint8_t* from = nullptr;
  const KeyVerdict verdict =
      keys.translate(Key(list[0].lkey), pd, kLocalRead, list[0].address, list[0].length, from);
  if (verdict == KeyVerdict::kGood) std::memcpy(to, from, count);
  return verdict;
}

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_GATHER_H
