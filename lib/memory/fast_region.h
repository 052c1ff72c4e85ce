// SPDX-License-Identifier: BSD-3-Clause
// Fast registration: a region that a work request makes valid.
#ifndef UROCE_MEMORY_FAST_REGION_H
#define UROCE_MEMORY_FAST_REGION_H

#include "memory/change.h"

namespace uroce::memory {

struct FastRegistration {
  uint8_t* base = nullptr;
  uint64_t iova = 0;
  uint64_t length = 0;  // not 0; the range does not wrap around
  Key region;           // any key that the region had: names its slot
  Key new_key;          // differs in the low 8 bits at most
  uint32_t access = 0;
};

// kDone: the region is valid under new_key. kRefused: not a fast region of this protection domain,
// a key of another slot, or the region is valid already (or being changed elsewhere).
Change register_fast(KeyTable& keys, const Changer& who, const FastRegistration& request);

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_FAST_REGION_H
