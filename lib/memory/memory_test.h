// SPDX-License-Identifier: BSD-3-Clause
// Test support: a key table with one region over a buffer.
#ifndef UROCE_MEMORY_MEMORY_TEST_H
#define UROCE_MEMORY_MEMORY_TEST_H

#include <array>

#include "memory/key_table.h"

namespace uroce::memory {

struct OneRegion {
  static constexpr uint32_t kPd = 7;
  static constexpr Key kKey{0x0102};
  std::array<uint8_t, 256> buffer{};
  KeyTable keys{8};
  explicit OneRegion(uint32_t access) {
    keys.publish(kKey, {buffer.data(), address(), buffer.size(), kPd, access});
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(buffer.data()); }
};

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_MEMORY_TEST_H
