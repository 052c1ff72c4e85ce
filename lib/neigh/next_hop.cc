// SPDX-License-Identifier: BSD-3-Clause
// Prefixes, gateways, and addresses that no packet goes to.
#include "neigh/next_hop.h"

#include <algorithm>

namespace uroce::neigh {
namespace {

// True when the first `bits` of both addresses, counted in their family, agree.
bool same_prefix(const Gid& a, const Gid& b, uint32_t bits) {
  if (a.is_ipv4() != b.is_ipv4()) return false;
  if (a.is_ipv4()) bits += 96;
  const auto whole = static_cast<ptrdiff_t>(bits / 8);
  if (!std::equal(a.bytes.begin(), a.bytes.begin() + whole, b.bytes.begin())) return false;
  const uint32_t rest = bits % 8;
  if (rest == 0) return true;
  const auto at = static_cast<size_t>(whole);
  return ((a.bytes[at] ^ b.bytes[at]) >> (8 - rest)) == 0;
}

bool is_unicast(const Gid& address) {
  return !address.is_zero() && address != Gid::from_ipv4(0) && !address.is_multicast();
}

bool is_usable(const OwnAddress& own) {
  if (!is_unicast(own.address)) return false;
  return own.prefix_length <= (own.address.is_ipv4() ? 32 : 128);
}

// Unspecified, loopback, class E and limited broadcast; and the broadcast address of a subnet,
// which RoCE has no use for.
bool never_reached(const Gid& destination, const OwnAddress* own) {
  if (!destination.is_ipv4()) {
    constexpr Gid kLoopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    return destination.is_zero() || destination == kLoopback;
  }
  const uint32_t address = destination.ipv4();
  if (address >> 24 == 0 || address >> 24 == 127 || address >> 28 == 15) return true;
  if (own == nullptr || own->prefix_length > 30) return false;
  const uint32_t host_bits = ~uint32_t{0} >> own->prefix_length;
  return (address & host_bits) == host_bits;
}

}  // namespace

bool NextHop::set(std::span<const OwnAddress> addresses, const Gid& gateway_ipv4,
                  const Gid& gateway_ipv6) {
  if (addresses.size() > kAddressesMax) return false;
  if (!std::ranges::all_of(addresses, is_usable)) return false;
  const bool gateways_fit =
      (gateway_ipv4.is_zero() || (gateway_ipv4.is_ipv4() && is_unicast(gateway_ipv4))) &&
      (gateway_ipv6.is_zero() || (!gateway_ipv6.is_ipv4() && is_unicast(gateway_ipv6)));
  if (!gateways_fit) return false;
  std::ranges::copy(addresses, addresses_.begin());
  count_ = addresses.size();
  gateway_ipv4_ = gateway_ipv4;
  gateway_ipv6_ = gateway_ipv6;
  return true;
}

bool NextHop::is_own(const Gid& address) const {
  return std::ranges::any_of(addresses(),
                             [&](const OwnAddress& own) { return own.address == address; });
}

HopKind NextHop::route(const Gid& destination, Gid& next_hop) const {
  if (destination.is_multicast()) return HopKind::kMulticast;
  if (is_own(destination)) return HopKind::kOwn;
  const OwnAddress* own = covering(destination);
  if (never_reached(destination, own)) return HopKind::kNoRoute;
  const bool ipv4 = destination.is_ipv4();
  const bool link_local = !ipv4 && destination.is_link_local() && has_family(false);
  if (own != nullptr || link_local) {
    next_hop = destination;
    return HopKind::kOnLink;
  }
  const Gid& gateway = ipv4 ? gateway_ipv4_ : gateway_ipv6_;
  if (gateway.is_zero() || !has_family(ipv4)) return HopKind::kNoRoute;
  next_hop = gateway;
  return HopKind::kGateway;
}

Gid NextHop::source_for(const Gid& neighbor) const {
  if (const OwnAddress* own = covering(neighbor)) return own->address;
  for (const OwnAddress& own : addresses()) {
    if (own.address.is_ipv4() == neighbor.is_ipv4()) return own.address;
  }
  return Gid{};
}

const OwnAddress* NextHop::covering(const Gid& address) const {
  for (const OwnAddress& own : addresses()) {
    if (same_prefix(own.address, address, own.prefix_length)) return &own;
  }
  return nullptr;
}

bool NextHop::has_family(bool ipv4) const {
  return std::ranges::any_of(addresses(),
                             [&](const OwnAddress& own) { return own.address.is_ipv4() == ipv4; });
}

}  // namespace uroce::neigh
