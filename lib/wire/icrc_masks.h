// SPDX-License-Identifier: BSD-3-Clause
// The headers under the ICRC, masked in vector registers: for icrc.cc, which has them in a packet,
// and emit.cc, which has them at hand before they are stored.
//
// 16 bytes are OR-ed with a mask and stored whole, for the CRC to load again in the same shape.
// Byte stores would leave those loads waiting for the store buffer (about 25 ns per packet).
#ifndef UROCE_WIRE_ICRC_MASKS_H
#define UROCE_WIRE_ICRC_MASKS_H

#include <emmintrin.h>

#include <cstdint>

#include "wire/crc32.h"

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
    // the addresses
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

// The CRC over masked headers whose vectors, from eight bytes before the IP header on, are
// v0, v1, …: 40 bytes of IPv4, UDP and BTH.
inline uint32_t crc_of_headers4(__m128i v0, __m128i v1, __m128i v2) {
  alignas(16) uint8_t masked[48];
  store_vector(masked, _mm_or_si128(v0, load_vector(kIcrcMasks4[0].bytes)));
  store_vector(masked + 16, _mm_or_si128(v1, load_vector(kIcrcMasks4[1].bytes)));
  store_vector(masked + 32, _mm_or_si128(v2, load_vector(kIcrcMasks4[2].bytes)));
  return crc32(0, masked, sizeof masked);
}

// 60 bytes of IPv6, UDP and BTH; `last` are the four that the vectors leave.
inline uint32_t crc_of_headers6(__m128i v0, __m128i v1, __m128i v2, __m128i v3,
                                const uint8_t* last) {
  alignas(16) uint8_t masked[64];
  store_vector(masked, _mm_or_si128(v0, load_vector(kIcrcMasks6[0].bytes)));
  store_vector(masked + 16, v1);
  store_vector(masked + 32, v2);
  store_vector(masked + 48, _mm_or_si128(v3, load_vector(kIcrcMasks6[3].bytes)));
  return crc32_short(crc32(0, masked, sizeof masked), last, 4);
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_ICRC_MASKS_H
