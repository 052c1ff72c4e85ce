// SPDX-License-Identifier: BSD-3-Clause
// A small repeatable generator (SplitMix64) for delays and hash seeds inside the core. Not for
// identifiers that a stranger must not guess: those come from an IdSource.
#ifndef UROCE_BASE_RANDOM_H
#define UROCE_BASE_RANDOM_H

#include <cstdint>

#include "base/types.h"

namespace uroce {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next64() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), bound > 0; the bias is below bound / 2^64.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next64()) * bound) >> 64);
  }

  // Uniform in (0, longest], longest > 0.
  Duration delay_within(Duration longest) {
    return Duration(static_cast<int64_t>(below(static_cast<uint64_t>(longest.count()))) + 1);
  }

 private:
  uint64_t state_;
};

}  // namespace uroce

#endif  // UROCE_BASE_RANDOM_H
