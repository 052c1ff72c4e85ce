// SPDX-License-Identifier: BSD-3-Clause
// The invariant CRC: masked headers, then bytes as they are.
#include "wire/icrc.h"

#include <algorithm>
#include <cstring>

#include "wire/icrc_masks.h"
#include "wire/ip.h"

namespace uroce::wire {
namespace {

// Pieces of a fused copy: small beside an L1 cache, large beside the cost of a call.
constexpr size_t kCopyPieceBytes = 8192;
constexpr uint32_t kHeaders4 = kIpv4Bytes + kUdpBytes + kBthBytes;
constexpr uint32_t kHeaders6 = kIpv6Bytes + kUdpBytes + kBthBytes;
constexpr uint32_t kVectors6 = 56;  // of them, what the masked vectors cover

// Eight bytes of no matter (they are masked) followed by the first eight bytes at `from`.
__m128i eight_then(const uint8_t* from) {
  return _mm_slli_si128(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), 8);
}

inline uint32_t icrc_of(const uint8_t* l3, bool ipv6, uint32_t covered_bytes) {
  const __m128i v0 = eight_then(l3);
  const __m128i v1 = load_vector(l3 + 8);
  const __m128i v2 = load_vector(l3 + 24);
  if (!ipv6) return crc_of_packet4(v0, v1, v2, l3 + kHeaders4, covered_bytes - kHeaders4);
  return crc_of_packet6(v0, v1, v2, load_vector(l3 + 40), l3 + kVectors6,
                        covered_bytes - kVectors6);
}

// True where copying and CRC go through registers together.
bool folds(size_t n) { return n >= 16 && n <= kFoldBytesMax && fold_enabled; }

// Copies and takes the CRC of what lies at `summed` after the copy: `to` or `from`. A fold reads
// each byte once, so there both are the same.
IcrcState copy(IcrcState state, uint8_t* to, const uint8_t* from, size_t n, const uint8_t* summed) {
  if (folds(n)) return {fold_copy(state.crc, to, from, n)};
  while (n != 0) {
    const size_t piece = std::min(n, kCopyPieceBytes);
    std::memcpy(to, from, piece);
    state.crc = crc32(state.crc, summed, piece);
    to += piece;
    from += piece;
    summed += piece;
    n -= piece;
  }
  return state;
}

}  // namespace

IcrcState icrc_begin(const uint8_t* l3, bool ipv6) {
  return {icrc(l3, ipv6, ipv6 ? kHeaders6 : kHeaders4)};
}

IcrcState icrc_update(IcrcState state, const uint8_t* from, size_t n) {
  return {crc32(state.crc, from, n)};
}

IcrcState icrc_copy(IcrcState state, uint8_t* to, const uint8_t* from, size_t n) {
  return copy(state, to, from, n, to);
}

IcrcState icrc_copy_received(IcrcState state, uint8_t* to, const uint8_t* from, size_t n) {
  return copy(state, to, from, n, from);
}

uint32_t icrc(const uint8_t* l3, bool ipv6, uint32_t covered_bytes) {
  return icrc_of(l3, ipv6, covered_bytes);
}

bool icrc_ok(const ParsedFrame& packet) {
  const uint32_t value = icrc_of(packet.l3(), packet.ipv6, packet.ip_length - kIcrcBytes);
  return value == load_icrc(packet.icrc());
}

}  // namespace uroce::wire
