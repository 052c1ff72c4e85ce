// SPDX-License-Identifier: BSD-3-Clause
// Which addresses a host can have.
#ifndef UROCE_BASE_HOST_ADDRESS_H
#define UROCE_BASE_HOST_ADDRESS_H

#include "base/types.h"

namespace uroce {

// Whether a host may have this address on a network, and so send from it: unicast, and no loopback
// (RFC 1122 3.2.1.3, RFC 4291 2.5).
constexpr bool can_be_a_hosts(const Gid& address) {
  constexpr Gid kLoopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  if (address.is_multicast() || address.is_zero() || address == kLoopback) return false;
  if (!address.is_ipv4()) return true;
  const uint32_t first_byte = address.ipv4() >> 24;
  return first_byte != 0 && first_byte != 127 && address.ipv4() != 0xFFFFFFFF;
}

}  // namespace uroce

#endif  // UROCE_BASE_HOST_ADDRESS_H
