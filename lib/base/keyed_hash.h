// SPDX-License-Identifier: BSD-3-Clause
// A keyed hash of 128-bit values (GIDs, pairs of numbers): without the seed nobody can choose
// values that collide.
//
// The value is two 64-bit halves a and b. With secret words k0, k1 drawn from the seed,
// p = (a + k0) * (b + k1) over 128 bits is almost universal: two different values agree in p with
// a probability of about 2^-64 over the choice of the words (the construction is known as NH).
// p is then mixed down to 64 bits by a second secret product, so that every output bit depends on
// every input bit. Three multiplications; no loop.
#ifndef UROCE_BASE_KEYED_HASH_H
#define UROCE_BASE_KEYED_HASH_H

#include <cstdint>

#include "base/bytes.h"
#include "base/random.h"
#include "base/types.h"

namespace uroce {

class KeyedHash {
 public:
  explicit KeyedHash(uint64_t seed) {
    Random random(seed);
    for (uint64_t& word : words_) word = random.next64();
    words_[2] |= 1;
  }

  uint64_t operator()(uint64_t a, uint64_t b) const {
    const unsigned __int128 p = static_cast<unsigned __int128>(a + words_[0]) * (b + words_[1]);
    const uint64_t low = static_cast<uint64_t>(p);
    const uint64_t high = static_cast<uint64_t>(p >> 64);
    const unsigned __int128 q = static_cast<unsigned __int128>(low ^ words_[3]) * words_[2];
    const uint64_t mixed = static_cast<uint64_t>(q) ^ static_cast<uint64_t>(q >> 64) ^ high;
    return (mixed ^ (mixed >> 32)) * words_[2];
  }
  uint64_t operator()(const Gid& gid) const {
    return (*this)(load_raw<uint64_t>(gid.bytes.data()), load_raw<uint64_t>(gid.bytes.data() + 8));
  }

 private:
  uint64_t words_[4];
};

}  // namespace uroce

#endif  // UROCE_BASE_KEYED_HASH_H
