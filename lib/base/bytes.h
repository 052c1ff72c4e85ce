// SPDX-License-Identifier: BSD-3-Clause
// Big-endian loads and stores on unaligned bytes: what every header is made of.
#ifndef UROCE_BASE_BYTES_H
#define UROCE_BASE_BYTES_H

#include <bit>
#include <cstdint>
#include <cstring>

namespace uroce {

template <typename T>
inline T load_raw(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline uint16_t load_be16(const uint8_t* from) {
  return __builtin_bswap16(load_raw<uint16_t>(from));
}
inline uint32_t load_be32(const uint8_t* from) {
  return __builtin_bswap32(load_raw<uint32_t>(from));
}
inline uint64_t load_be64(const uint8_t* from) {
  return __builtin_bswap64(load_raw<uint64_t>(from));
}
inline uint32_t load_be24(const uint8_t* from) {
  return uint32_t{from[0]} << 16 | uint32_t{from[1]} << 8 | from[2];
}
inline void store_be16(uint8_t* to, uint16_t value) {
  value = __builtin_bswap16(value);
  std::memcpy(to, &value, sizeof value);
}
inline void store_be32(uint8_t* to, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof value);
}
inline void store_be64(uint8_t* to, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}
inline void store_be24(uint8_t* to, uint32_t value) {
  to[0] = static_cast<uint8_t>(value >> 16);
  to[1] = static_cast<uint8_t>(value >> 8);
  to[2] = static_cast<uint8_t>(value);
}
static_assert(std::endian::native == std::endian::little, "uroce runs on x86-64");

}  // namespace uroce

#endif  // UROCE_BASE_BYTES_H
