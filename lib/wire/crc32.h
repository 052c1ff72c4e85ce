// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 of Ethernet: ISA-L for what is long, four bytes a step for what is short.
//
// ISA-L falls back to single bytes below 16 (18 ns for 4 bytes) and loads 16 bytes at a time, which
// waits for the store buffer when a header has just been written field by field. Extension headers
// and pad are that short and that fresh, so they go through tables: T0 holds the CRC of each byte,
// Tk that of the byte with k zero bytes behind it, and four bytes are four look-ups.
#ifndef UROCE_WIRE_CRC32_H
#define UROCE_WIRE_CRC32_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace uroce::wire::crc32_tables {

using Table = std::array<uint32_t, 256>;

constexpr std::array<Table, 4> build() {
  std::array<Table, 4> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    tables[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (size_t k = 1; k < 4; ++k) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

inline constexpr std::array<Table, 4> kTables = build();

}  // namespace uroce::wire::crc32_tables

namespace uroce::wire {

// At this many bytes and below, the tables are the faster way.
inline constexpr size_t kShortBytes = 16;

// All in zlib's form: the complement is applied at both ends, so calls chain.
inline uint32_t crc32_short(uint32_t crc, const uint8_t* from, size_t n) {
  const auto& t = crc32_tables::kTables;
  crc = ~crc;
  for (; n >= 4; n -= 4, from += 4) {
    crc ^= load_raw<uint32_t>(from);
    crc = t[3][crc & 0xff] ^ t[2][crc >> 8 & 0xff] ^ t[1][crc >> 16 & 0xff] ^ t[0][crc >> 24];
  }
  for (; n != 0; --n, ++from) crc = crc >> 8 ^ t[0][(crc ^ *from) & 0xff];
  return ~crc;
}

// Through ISA-L, for any length.
uint32_t crc32_long(uint32_t crc, const uint8_t* from, size_t n);

inline uint32_t crc32(uint32_t crc, const uint8_t* from, size_t n) {
  return n <= kShortBytes ? crc32_short(crc, from, n) : crc32_long(crc, from, n);
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_CRC32_H
