// SPDX-License-Identifier: BSD-3-Clause
// Our own addresses, and where a packet to some address goes next: to the destination itself when
// one of our prefixes covers it, else to the configured gateway of its family.
#ifndef UROCE_NEIGH_NEXT_HOP_H
#define UROCE_NEIGH_NEXT_HOP_H

#include <array>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace uroce::neigh {

struct OwnAddress {
  Gid address;
  uint8_t prefix_length = 0;  // of its family: 0 … 32 or 0 … 128
};

enum class HopKind : uint8_t {
  kOwn,        // one of our own addresses
  kMulticast,  // a group: its MAC address follows from the address
  kOnLink,     // next hop is the destination
  kGateway,    // next hop is the gateway
  kNoRoute,    // not covered and no gateway; or an address that no packet goes to
};

class NextHop {
 public:
  static constexpr size_t kAddressesMax = 17;  // 16 of the user's and the link-local one

  // Replaces addresses and gateways (zero: none). False, and nothing is changed, for more than
  // kAddressesMax addresses, a multicast or zero address, a prefix length beyond the family's, or
  // a gateway of the other family.
  bool set(std::span<const OwnAddress> addresses, const Gid& gateway_ipv4, const Gid& gateway_ipv6);

  std::span<const OwnAddress> addresses() const { return {addresses_.data(), count_}; }
  bool is_own(const Gid& address) const;

  // `next_hop` is set for kOnLink and kGateway.
  HopKind route(const Gid& destination, Gid& next_hop) const;

  // Our address for asking a neighbour: the one whose prefix covers it, else the first of its
  // family; zero when there is none.
  Gid source_for(const Gid& neighbor) const;

 private:
  const OwnAddress* covering(const Gid& address) const;
  bool has_family(bool ipv4) const;

  std::array<OwnAddress, kAddressesMax> addresses_{};
  size_t count_ = 0;
  Gid gateway_ipv4_{};
  Gid gateway_ipv6_{};
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_NEXT_HOP_H
