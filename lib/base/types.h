// SPDX-License-Identifier: BSD-3-Clause
// The words of the trade as types: PSN, QPN, key, GID, MAC address and time.
#ifndef UROCE_BASE_TYPES_H
#define UROCE_BASE_TYPES_H

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <cstring>
#include <span>

namespace uroce {

// Engine time. The core never reads a clock: a caller passes a Time in, counted from an origin of
// the caller's choice (TSC calibration in the product, the virtual clock in the simulator).
struct EngineClock {
  using rep = int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<EngineClock>;
  static constexpr bool is_steady = true;
};
using Duration = std::chrono::nanoseconds;
using Time = EngineClock::time_point;
inline constexpr Time kNever = Time::max();

// A packet sequence number: 24 bits, serial arithmetic modulo 2^24 (IBA 9.7.1).
class Psn {
 public:
  static constexpr uint32_t kMask = 0xFFFFFF;
  constexpr Psn() = default;
  constexpr explicit Psn(uint32_t value) : value_(value & kMask) {}
  constexpr uint32_t value() const { return value_; }
  constexpr Psn operator+(uint32_t packets) const { return Psn(value_ + packets); }
  constexpr Psn operator-(uint32_t packets) const { return Psn(value_ - packets); }
  constexpr Psn& operator++() { return *this = *this + 1; }
  // Signed distance this - other in [-2^23, 2^23). Positive: this is later.
  constexpr int32_t distance_from(Psn other) const {
    return static_cast<int32_t>((value_ - other.value_) << 8) >> 8;
  }
  constexpr bool before(Psn other) const { return distance_from(other) < 0; }
  constexpr bool after(Psn other) const { return distance_from(other) > 0; }
  constexpr bool operator==(const Psn&) const = default;

 private:
  uint32_t value_ = 0;
};

// A queue pair number: 24 bits. 0 and 1 are special QPs; 0xFFFFFF addresses a multicast group.
class Qpn {
 public:
  static constexpr uint32_t kMask = 0xFFFFFF;
  constexpr Qpn() = default;
  constexpr explicit Qpn(uint32_t value) : value_(value & kMask) {}
  constexpr uint32_t value() const { return value_; }
  constexpr bool operator==(const Qpn&) const = default;

 private:
  uint32_t value_ = 0;
};
inline constexpr Qpn kMulticastQpn{0xFFFFFF};
inline constexpr Qpn kGsiQpn{1};

// An L_Key or R_Key: 24 bits of table index, 8 bits of tag. 0 is never valid.
class Key {
 public:
  constexpr Key() = default;
  constexpr explicit Key(uint32_t value) : value_(value) {}
  constexpr uint32_t value() const { return value_; }
  constexpr uint32_t index() const { return value_ >> 8; }
  constexpr uint8_t tag() const { return static_cast<uint8_t>(value_); }
  constexpr bool operator==(const Key&) const = default;

 private:
  uint32_t value_ = 0;
};

// A 128-bit GID. On RoCEv2 it is an IP address: IPv6 as it is, IPv4 as ::ffff:a.b.c.d.
struct Gid {
  std::array<uint8_t, 16> bytes{};

  constexpr bool operator==(const Gid&) const = default;
  constexpr auto operator<=>(const Gid&) const = default;
  static constexpr Gid from_ipv4(uint32_t address_host_order) {
    Gid gid;
    gid.bytes[10] = gid.bytes[11] = 0xff;
    for (unsigned i = 0; i < 4; ++i) {
      gid.bytes[12 + i] = static_cast<uint8_t>(address_host_order >> (24 - 8 * i));
    }
    return gid;
  }
  constexpr bool is_ipv4() const {
    for (unsigned i = 0; i < 10; ++i) {
      if (bytes[i] != 0) return false;
    }
    return bytes[10] == 0xff && bytes[11] == 0xff;
  }
  // The IPv4 address in host order; meaningful only when is_ipv4().
  constexpr uint32_t ipv4() const {
    return uint32_t{bytes[12]} << 24 | uint32_t{bytes[13]} << 16 | uint32_t{bytes[14]} << 8 |
           bytes[15];
  }
  constexpr bool is_zero() const { return *this == Gid{}; }
  // First byte 0xff, or IPv4-mapped 224.0.0.0/4.
  constexpr bool is_multicast() const {
    return bytes[0] == 0xff || (is_ipv4() && (bytes[12] & 0xf0) == 0xe0);
  }
  constexpr bool is_link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }
};

struct MacAddress {
  std::array<uint8_t, 6> bytes{};
  constexpr bool operator==(const MacAddress&) const = default;
  constexpr auto operator<=>(const MacAddress&) const = default;
  constexpr bool is_multicast() const { return (bytes[0] & 1) != 0; }
  constexpr bool is_zero() const { return *this == MacAddress{}; }
};

// Whatever the owner of a frame buffer needs to find it again (an mbuf pointer, an index). The
// core only carries it.
enum class Token : uint64_t {};

// The path MTU as the wire and verbs encode it: 1 = 256 … 5 = 4096 bytes.
enum class PathMtu : uint8_t { k256 = 1, k512 = 2, k1024 = 3, k2048 = 4, k4096 = 5 };
constexpr uint32_t bytes(PathMtu mtu) { return 128u << static_cast<unsigned>(mtu); }

}  // namespace uroce

#endif  // UROCE_BASE_TYPES_H
