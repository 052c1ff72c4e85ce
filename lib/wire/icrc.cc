// SPDX-License-Identifier: BSD-3-Clause
// The invariant CRC: masked headers, then bytes as they are, through ISA-L's CRC-32.
//
// The masked headers are put together in vector registers: 16 bytes are loaded from the packet, the
// masks are OR-ed in, and whole vectors are stored for the CRC to load again in the same shape.
// Byte stores would leave those loads waiting for the store buffer (about 25 ns per packet).
#include "wire/icrc.h"

#include <emmintrin.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>

#include "wire/ip.h"

namespace uroce::wire {
namespace {

// Pieces of a fused copy: small beside an L1 cache, large beside the cost of a call.
constexpr size_t kCopyPieceBytes = 8192;
constexpr uint32_t kHeaders4 = kIpv4Bytes + kUdpBytes + kBthBytes;
constexpr uint32_t kHeaders6 = kIpv6Bytes + kUdpBytes + kBthBytes;

__m128i load_vector(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

struct alignas(16) Mask {
  uint8_t bytes[16];
};

// The bytes read as ones, counted from eight bytes before the IP header, 16 at a time.
constexpr Mask kMask4[] = {
    // TOS
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0}},
    // TTL, header checksum
    {{0xff, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    // UDP checksum, byte 4 of the BTH
    {{0, 0, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0}},
};
constexpr Mask kMask6[] = {
    // traffic class and flow label (the version nibble stays), hop limit
    {{0, 0, 0, 0, 0, 0, 0, 0, 0x0f, 0xff, 0xff, 0xff, 0, 0, 0, 0xff}},
    // the addresses
    {{}},
    {{}},
    // UDP checksum, byte 4 of the BTH
    {{0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0, 0, 0}},
};

void store_masked(uint8_t* to, __m128i value, const Mask& mask) {
  const __m128i ones = _mm_load_si128(reinterpret_cast<const __m128i*>(mask.bytes));
  _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm_or_si128(value, ones));
}

// Eight bytes of ones followed by the first eight bytes at `from`.
__m128i ones_then(const uint8_t* from) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_or_si128(_mm_slli_si128(low, 8), _mm_set_epi64x(0, -1));
}

// ISA-L takes its buffers without const, and reads only.
uint32_t crc32(uint32_t crc, const uint8_t* from, size_t n) {
  return crc32_gzip_refl(crc, const_cast<uint8_t*>(from), n);
}

}  // namespace

IcrcState icrc_begin(const uint8_t* l3, bool ipv6) {
  alignas(16) uint8_t masked[80];
  if (ipv6) {
    store_masked(masked, ones_then(l3), kMask6[0]);
    store_masked(masked + 16, load_vector(l3 + 8), kMask6[1]);
    store_masked(masked + 32, load_vector(l3 + 24), kMask6[2]);
    store_masked(masked + 48, load_vector(l3 + 40), kMask6[3]);
    std::memcpy(masked + 64, l3 + 56, 4);
    return {crc32(0, masked, 8 + kHeaders6)};
  }
  store_masked(masked, ones_then(l3), kMask4[0]);
  store_masked(masked + 16, load_vector(l3 + 8), kMask4[1]);
  store_masked(masked + 32, load_vector(l3 + 24), kMask4[2]);
  return {crc32(0, masked, 8 + kHeaders4)};
}

IcrcState icrc_update(IcrcState state, const uint8_t* from, size_t n) {
  if (n == 0) return state;
  return {crc32(state.crc, from, n)};
}

IcrcState icrc_copy(IcrcState state, uint8_t* to, const uint8_t* from, size_t n) {
  while (n != 0) {
    const size_t piece = std::min(n, kCopyPieceBytes);
    std::memcpy(to, from, piece);
    state.crc = crc32(state.crc, to, piece);
    to += piece;
    from += piece;
    n -= piece;
  }
  return state;
}

IcrcState icrc_copy_received(IcrcState state, uint8_t* to, const uint8_t* from, size_t n) {
  while (n != 0) {
    const size_t piece = std::min(n, kCopyPieceBytes);
    std::memcpy(to, from, piece);
    state.crc = crc32(state.crc, from, piece);
    to += piece;
    from += piece;
    n -= piece;
  }
  return state;
}

void store_icrc(uint8_t* to, uint32_t value) { std::memcpy(to, &value, sizeof value); }

uint32_t load_icrc(const uint8_t* from) { return load_raw<uint32_t>(from); }

uint32_t icrc(const uint8_t* l3, bool ipv6, uint32_t covered_bytes) {
  const uint32_t headers = ipv6 ? kHeaders6 : kHeaders4;
  return icrc_update(icrc_begin(l3, ipv6), l3 + headers, covered_bytes - headers).crc;
}

bool icrc_ok(const ParsedFrame& packet) {
  const uint32_t value = icrc(packet.l3(), packet.ipv6, packet.ip_length - kIcrcBytes);
  return value == load_icrc(packet.icrc());
}

}  // namespace uroce::wire
