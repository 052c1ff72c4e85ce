// SPDX-License-Identifier: BSD-3-Clause
// For tests: zeroed memory that begins at a cache line, as queues want it.
#ifndef UROCE_BASE_ALIGNED_BLOCK_FIXTURE_H
#define UROCE_BASE_ALIGNED_BLOCK_FIXTURE_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "base/spsc_ring.h"

namespace uroce {

struct AlignedDelete {
  void operator()(uint8_t* p) const { ::operator delete(p, std::align_val_t{kCacheLine}); }
};
using AlignedBlock = std::unique_ptr<uint8_t, AlignedDelete>;

inline AlignedBlock aligned_block(size_t size) {
  auto* p = static_cast<uint8_t*>(::operator new(size, std::align_val_t{kCacheLine}));
  std::memset(p, 0, size);
  return AlignedBlock(p);
}

}  // namespace uroce

#endif  // UROCE_BASE_ALIGNED_BLOCK_FIXTURE_H
