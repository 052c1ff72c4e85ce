// SPDX-License-Identifier: BSD-3-Clause
// Gathering: the requester's copy from registered memory into a packet.
#include "memory/gather.h"

#include <cstring>

#include "memory/walk.h"

namespace uroce::memory {

KeyVerdict gather(const KeyTable& keys, uint32_t pd, std::span<const Sge> list, uint64_t offset,
                  uint8_t* to, uint32_t count) {
  return walk(keys, pd, kLocalRead, list, offset, count, [&to](const uint8_t* from, uint32_t n) {
    std::memcpy(to, from, n);
    to += n;
  });
}

}  // namespace uroce::memory
