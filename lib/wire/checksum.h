// SPDX-License-Identifier: BSD-3-Clause
// The Internet checksum: ones' complement sums of 16-bit words.
//
// The sum does not depend on byte order as long as words are loaded and the result is stored the
// same way (RFC 1071), so everything here works on words as they lie in memory and never swaps.
// Partial sums chain over segments; every segment but the last must have an even length.
#ifndef UROCE_WIRE_CHECKSUM_H
#define UROCE_WIRE_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace uroce::wire {

// Adds n bytes to a partial sum. The 64-bit sum cannot overflow for any frame.
inline uint64_t checksum_add(uint64_t sum, const uint8_t* from, size_t n) {
  while (n >= 4) {
    sum += load_raw<uint32_t>(from);
    from += 4;
    n -= 4;
  }
  if (n >= 2) {
    sum += load_raw<uint16_t>(from);
    from += 2;
    n -= 2;
  }
  if (n != 0) sum += *from;
  return sum;
}

// Folds a partial sum to 16 bits; 0xFFFF over data that includes a right checksum.
inline uint16_t checksum_fold(uint64_t sum) {
  sum = (sum & 0xFFFFFFFF) + (sum >> 32);
  sum = (sum & 0xFFFF) + (sum >> 16 & 0xFFFF) + (sum >> 32);
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

// True when the data summed, its checksum field included, is intact: the sum folds to 0xFFFF, which
// is to say that it is a multiple of it and not zero.
inline bool checksum_good(uint64_t sum) { return sum != 0 && sum % 0xFFFF == 0; }

// Writes the checksum for a partial sum that was taken with the field zero.
inline void store_checksum(uint8_t* to, uint64_t sum) {
  const auto value = static_cast<uint16_t>(~checksum_fold(sum));
  std::memcpy(to, &value, sizeof value);
}

// The partial sum of the pseudo-header that UDP (both IP versions) and ICMPv6 checksums begin with:
// the addresses, `address_bytes` of them (8 or 32), lie at `addresses`.
inline uint64_t pseudo_header_sum(const uint8_t* addresses, uint32_t address_bytes,
                                  uint8_t protocol, uint32_t length) {
  return checksum_add(0, addresses, address_bytes) + __builtin_bswap32(length) +
         (uint64_t{protocol} << 8);
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_CHECKSUM_H
