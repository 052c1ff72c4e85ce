// SPDX-License-Identifier: BSD-3-Clause
// The headers under the ICRC, masked in vector registers: for icrc.cc, which has them in a packet,
// and emit.cc, which has them at hand before they are stored.
//
// 16 bytes are OR-ed with a mask and go into the CRC as they are. Masking with byte stores and
// loading the result again waits for the store buffer (about 25 ns per packet).
#ifndef UROCE_WIRE_ICRC_MASKS_H
#define UROCE_WIRE_ICRC_MASKS_H

#include <emmintrin.h>

#include <cstdint>

#include "wire/crc32.h"
#include "wire/crc32_fold.h"

namespace uroce::wire {

struct alignas(16) IcrcMask {
  uint8_t bytes[16];
};

// The bytes read as ones, counted from eight bytes before the IP header, 16 at a time. The first
// eight stand for the LRH.
inline constexpr IcrcMask kIcrcMasks4[] = {
    // TOS
    {{255, 255, 255, 255, 255, 255, 255, 255, 0, 255, 0, 0, 0, 0, 0, 0}},
    // TTL, header checksum
    {{255, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    // UDP checksum, byte 4 of the BTH
    {{0, 0, 255, 255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0}},
};
inline constexpr IcrcMask kIcrcMasks6[] = {
    // traffic class and flow label (the version nibble stays), hop limit
    {{255, 255, 255, 255, 255, 255, 255, 255, 15, 255, 255, 255, 0, 0, 0, 255}},
    // the addresses, as they are
    {{}},
    {{}},
    // UDP checksum, byte 4 of the BTH
    {{0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255, 0, 0, 0}},
};

inline __m128i load_vector(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

inline void store_vector(uint8_t* to, __m128i value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}

inline __m128i masked(__m128i vector, const IcrcMask& mask) {
  return _mm_or_si128(vector, load_vector(mask.bytes));
}

// The CRC over 40 bytes of IPv4, UDP and BTH, given as vectors from eight bytes before the IP
// header on, and over n bytes that follow them in memory at `rest`; 16 bytes before are readable.
inline uint32_t crc_of_packet4(__m128i v0, __m128i v1, __m128i v2, const uint8_t* rest, size_t n) {
  v0 = masked(v0, kIcrcMasks4[0]);
  v1 = masked(v1, kIcrcMasks4[1]);
  v2 = masked(v2, kIcrcMasks4[2]);
  if (fold_enabled) {
    if (n <= kFoldBytesMax) return fold_three(v0, v1, v2, rest, n);
    return crc32(fold_three(v0, v1, v2, rest, 0), rest, n);
  }
  alignas(16) uint8_t headers[48];
  store_vector(headers, v0);
  store_vector(headers + 16, v1);
  store_vector(headers + 32, v2);
  return crc32(crc32(0, headers, sizeof headers), rest, n);
}

// The same for IPv6, whose vectors leave the last four bytes of the BTH: `rest` begins with them.
inline uint32_t crc_of_packet6(__m128i v0, __m128i v1, __m128i v2, __m128i v3, const uint8_t* rest,
                               size_t n) {
  v0 = masked(v0, kIcrcMasks6[0]);
  v3 = masked(v3, kIcrcMasks6[3]);
  if (fold_enabled) {
    if (n <= kFoldBytesMax) return fold_four(v0, v1, v2, v3, rest, n);
    return crc32(fold_four(v0, v1, v2, v3, rest, 0), rest, n);
  }
  alignas(16) uint8_t headers[64];
  store_vector(headers, v0);
  store_vector(headers + 16, v1);
  store_vector(headers + 32, v2);
  store_vector(headers + 48, v3);
  return crc32(crc32(0, headers, sizeof headers), rest, n);
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ICRC_MASKS_H
