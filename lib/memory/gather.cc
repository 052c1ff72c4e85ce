// SPDX-License-Identifier: BSD-3-Clause
// Gathering: the requester's copy from registered memory into a packet.
#include "memory/gather.h"

#include <cstring>

#include "memory/walk.h"

namespace uroce::memory {

KeyVerdict gather(const KeyTable& keys, uint32_t pd, std::span<const Sge> list, uint64_t offset,
                  uint8_t* to, uint32_t count) {
  if (list.size() == 1 && offset == 0 && count != 0 &&
      count == list[0].length) {  // the usual short message
    uint8_t* from = nullptr;
    const KeyVerdict verdict =
        keys.translate(Key(list[0].lkey), pd, kLocalRead, list[0].address, count, from);
    if (verdict == KeyVerdict::kGood) std::memcpy(to, from, count);
    return verdict;
  }
  return walk(keys, pd, kLocalRead, list, offset, count, [&to](const uint8_t* from, uint32_t n) {
    std::memcpy(to, from, n);
    to += n;
  });
}

}  // namespace uroce::memory
