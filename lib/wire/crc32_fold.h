// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 by carry-less multiplication for what is short and at hand in registers: masked headers,
// and payloads that are copied at the same time.
#ifndef UROCE_WIRE_CRC32_FOLD_H
#define UROCE_WIRE_CRC32_FOLD_H

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

namespace uroce::wire {

// True when this CPU has the instruction; the functions below may be called only then. Set before
// main(); a test may switch it off to walk the other way.
inline bool fold_enabled = __builtin_cpu_supports("pclmul") != 0;

// Up to this many bytes one chain of folds beats a call of ISA-L, which works on four at once.
inline constexpr size_t kFoldBytesMax = 192;

// All in zlib's form, beginning with a CRC of 0 where none is given. For n not a multiple of 16,
// the 16 bytes that end at rest + n are read, so those before `rest` must be readable.

// Over three vectors, then n bytes.
uint32_t fold_three(__m128i v0, __m128i v1, __m128i v2, const uint8_t* rest, size_t n);
// Over four vectors, then n bytes.
uint32_t fold_four(__m128i v0, __m128i v1, __m128i v2, __m128i v3, const uint8_t* rest, size_t n);
// Goes on from `crc` over n >= 16 bytes that are copied on the way, each read once but for the last
// 16, whose beginning is read again.
uint32_t fold_copy(uint32_t crc, uint8_t* to, const uint8_t* from, size_t n);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_CRC32_FOLD_H
