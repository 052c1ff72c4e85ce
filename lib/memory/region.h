// SPDX-License-Identifier: BSD-3-Clause
// What a key stands for: a range of memory, the protection domain it belongs to, and the rights.
#ifndef UROCE_MEMORY_REGION_H
#define UROCE_MEMORY_REGION_H

#include <cstdint>

namespace uroce::memory {

// Access rights: the bits of ib_access_flags / ibv_access_flags.
enum Access : uint32_t {
  kLocalWrite = 1u << 0,
  kRemoteWrite = 1u << 1,
  kRemoteRead = 1u << 2,
  kRemoteAtomic = 1u << 3,
  kMwBind = 1u << 4,
  kZeroBased = 1u << 5,
  kFlushGlobal = 1u << 8,
  kFlushPersistent = 1u << 9,
};
inline constexpr uint32_t kLocalRead = 0;  // every region may be read by its owner

// A region covers [iova, iova + length) as peers and work requests name it; byte 0 of it is *base.
struct Region {
  uint8_t* base = nullptr;
  uint64_t iova = 0;
  uint64_t length = 0;
  uint32_t pd = 0;  // protection domain number, never 0
  uint32_t access = 0;
};

// One element of a gather or scatter list: the layout of ib_sge and ibv_sge.
struct Sge {
  uint64_t address = 0;
  uint32_t length = 0;
  uint32_t lkey = 0;
};

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_REGION_H
