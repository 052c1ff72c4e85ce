// SPDX-License-Identifier: BSD-3-Clause
// Identifiers from the kernel's CSPRNG, and the repeatable source that tests use instead.
#include "base/id_source.h"

#include <sys/random.h>

#include "base/assert.h"

namespace uroce {

uint32_t IdSource::below(uint32_t bound) {
  UROCE_ASSERT(bound > 0);
  // Values at or above the largest multiple of bound would favour small results: draw again.
  const uint32_t threshold = (0u - bound) % bound;
  for (;;) {
    const uint32_t value = next32();
    if (value >= threshold) return value % bound;
  }
}

uint32_t CsprngIdSource::next32() {
  if (used_ == block_.size()) {
    const auto size = static_cast<ssize_t>(sizeof block_);
    UROCE_ASSERT(getrandom(block_.data(), sizeof block_, 0) == size);
    used_ = 0;
  }
  return block_[used_++];
}

uint32_t SeededIdSource::next32() {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<uint32_t>((z ^ (z >> 31)) >> 32);
}

}  // namespace uroce
