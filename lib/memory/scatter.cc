// SPDX-License-Identifier: BSD-3-Clause
// Scattering: the copy from a packet into posted buffers.
#include "memory/scatter.h"

#include <cstring>

#include "memory/walk.h"

namespace uroce::memory {

KeyVerdict scatter(const KeyTable& keys, uint32_t pd, std::span<const Sge> list, uint64_t offset,
                   const uint8_t* from, uint32_t count) {
  return walk(keys, pd, kLocalWrite, list, offset, count, [&from](uint8_t* to, uint32_t n) {
    std::memcpy(to, from, n);
    from += n;
  });
}

}  // namespace uroce::memory
