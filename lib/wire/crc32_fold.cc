// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 by folding.
//
// The message is a polynomial over GF(2), and its CRC the remainder modulo P. 16 bytes A that are
// followed by 16 more can be taken out of the message if A x^128 mod P is added to what follows: A
// is split into two halves of 64 bits, each is multiplied with a constant of 32 bits (x^(128+32)
// and x^(128-32) mod P, which with the 32 bits by which a product is off makes 128 behind either
// half), and both products, at most 96 bits long, are XOR-ed into the next 16 bytes. When 16 bytes
// are left, they are brought to 96 and to 64 bits the same way, and the last step is Barrett's: the
// quotient by P comes from a multiplication with floor(x^64 / P), and quotient times P is taken
// off.
//
// CRC-32 is bit-reflected: bit 0 of a byte is the highest power. A carry-less product of reflected
// operands comes out one bit too low; the constants are therefore shifted left by one.
//
// r bytes beyond a multiple of 16 go in by moving the accumulator: its first r bytes are folded as
// a block of their own, with zeros in front, and the others are put before the r new ones.
#include "wire/crc32_fold.h"

#include <tmmintrin.h>
#include <wmmintrin.h>

#include <array>

#define UROCE_FOLD_TARGET [[gnu::target("pclmul,ssse3")]]

namespace uroce::wire {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320;  // P without x^32, reflected

// x^n mod P, reflected, ready for a product.
constexpr uint64_t power(unsigned n) {
  uint32_t value = 0x80000000;
  for (; n != 0; --n) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
  return uint64_t{value} << 1;
}

// floor(x^64 / P), reflected: 33 bits. Division step by step: while what is left times x reaches
// x^32, P is taken off and the quotient gets a bit.
constexpr uint64_t barrett_quotient() {
  uint64_t quotient = 1;        // x^64 = x^32 P + x^32 (P - x^32)
  uint32_t left = kPolynomial;  // P - x^32
  for (unsigned i = 1; i <= 32; ++i) {
    const bool reaches = (left & 1) != 0;
    left = left >> 1 ^ (reaches ? kPolynomial : 0);
    if (reaches) quotient |= uint64_t{1} << i;
  }
  return quotient;
}

constexpr uint64_t kBehindLow = power(128 + 32);
constexpr uint64_t kBehindHigh = power(128 - 32);
constexpr uint64_t kFrom96 = power(64);
constexpr uint64_t kQuotient = barrett_quotient();
constexpr uint64_t kDivisor = uint64_t{kPolynomial} << 1 | 1;

// Sixteen consecutive bytes of it, from 16 + k on, make a shuffle that moves a vector k bytes down;
// from 16 - k on, k bytes up. Zeros come in.
constexpr std::array<uint8_t, 48> shuffles() {
  std::array<uint8_t, 48> bytes{};
  for (unsigned i = 0; i < 48; ++i) {
    bytes[i] = i >= 16 && i < 32 ? static_cast<uint8_t>(i - 16) : uint8_t{0x80};
  }
  return bytes;
}
constexpr std::array<uint8_t, 48> kShuffles = shuffles();

// Sixteen consecutive bytes of it, from r on, keep the last r bytes of a vector.
constexpr std::array<uint8_t, 32> masks() {
  std::array<uint8_t, 32> bytes{};
  for (unsigned i = 16; i < 32; ++i) bytes[i] = 0xff;
  return bytes;
}
constexpr std::array<uint8_t, 32> kMasks = masks();

__m128i load(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

__m128i pair(uint64_t high, uint64_t low) {
  return _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low));
}

// Moves a block 128 bits up: what is to be XOR-ed into the 16 bytes that follow it.
UROCE_FOLD_TARGET inline __m128i fold(__m128i block) {
  const __m128i constants = pair(kBehindHigh, kBehindLow);
  return _mm_xor_si128(_mm_clmulepi64_si128(block, constants, 0x00),
                       _mm_clmulepi64_si128(block, constants, 0x11));
}

// Takes in the last r (1..15) of the 16 bytes of `last`.
UROCE_FOLD_TARGET inline __m128i fold_part(__m128i block, __m128i last, size_t r) {
  const __m128i first = _mm_shuffle_epi8(block, load(kShuffles.data() + r));
  const __m128i others = _mm_shuffle_epi8(block, load(kShuffles.data() + 16 + r));
  const __m128i fresh = _mm_and_si128(last, load(kMasks.data() + r));
  return _mm_xor_si128(fold(first), _mm_or_si128(others, fresh));
}

// The CRC, complement applied, of the 16 bytes to which a message has been folded.
UROCE_FOLD_TARGET inline uint32_t reduce(__m128i block) {
  const __m128i low32 = _mm_set_epi32(0, 0, 0, -1);
  // 128 bits to 96: the first half moves 64 bits up.
  block = _mm_xor_si128(_mm_clmulepi64_si128(block, pair(0, kBehindHigh), 0x00),
                        _mm_srli_si128(block, 8));
  // 96 bits to 64: the first 32 move up.
  block = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(block, low32), pair(0, kFrom96), 0x00),
                        _mm_srli_si128(block, 4));
  const __m128i constants = pair(kQuotient, kDivisor);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(block, low32), constants, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), constants, 0x00);
  block = _mm_xor_si128(block, quotient);
  return ~static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_srli_si128(block, 4)));
}

// Goes on over n bytes and reduces.
UROCE_FOLD_TARGET inline uint32_t finish(__m128i block, const uint8_t* rest, size_t n) {
  for (; n >= 16; n -= 16, rest += 16) block = _mm_xor_si128(fold(block), load(rest));
  if (n != 0) block = fold_part(block, load(rest + n - 16), n);
  return reduce(block);
}

// The first block with the CRC of what went before, in zlib's form, taken in.
__m128i with_crc(__m128i block, uint32_t crc) {
  return _mm_xor_si128(block, _mm_cvtsi32_si128(static_cast<int>(~crc)));
}

}  // namespace

UROCE_FOLD_TARGET uint32_t fold_three(__m128i v0, __m128i v1, __m128i v2, const uint8_t* rest,
                                      size_t n) {
  const __m128i block = _mm_xor_si128(fold(with_crc(v0, 0)), v1);
  return finish(_mm_xor_si128(fold(block), v2), rest, n);
}

UROCE_FOLD_TARGET uint32_t fold_four(__m128i v0, __m128i v1, __m128i v2, __m128i v3,
                                     const uint8_t* rest, size_t n) {
  __m128i block = _mm_xor_si128(fold(with_crc(v0, 0)), v1);
  block = _mm_xor_si128(fold(block), v2);
  return finish(_mm_xor_si128(fold(block), v3), rest, n);
}

UROCE_FOLD_TARGET uint32_t fold_copy(uint32_t crc, uint8_t* to, const uint8_t* from, size_t n) {
  __m128i data = load(from);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), data);
  __m128i block = with_crc(data, crc);
  size_t at = 16;
  for (; at + 16 <= n; at += 16) {
    data = load(from + at);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), data);
    block = _mm_xor_si128(fold(block), data);
  }
  if (at != n) {
    data = load(from + n - 16);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + n - 16), data);
    block = fold_part(block, data, n - at);
  }
  return reduce(block);
}

}  // namespace uroce::wire
