// SPDX-License-Identifier: BSD-3-Clause
// Multicast GIDs: what a group is, who may send to it, and its MAC address.
//
// The MGID of an IPv4 group a.b.c.d is ::ffff:a.b.c.d; that of an IPv6 group is the address itself
// (the RoCEv2 annex, A17). Many groups share one MAC address (32 for IPv4): a MAC filter must be
// counted, and a received frame is judged by its IP address, never by its MAC.
#ifndef UROCE_GROUP_MGID_H
#define UROCE_GROUP_MGID_H

#include "base/host_address.h"
#include "base/types.h"

namespace uroce::group {

// First byte 0xff, or IPv4-mapped 224.0.0.0/4: what attach and detach accept.
constexpr bool is_valid_mgid(const Gid& gid) { return gid.is_multicast(); }

// Whether a message to the group may come from an address: one of the group's family that a host
// can have.
constexpr bool is_valid_source(const Gid& mgid, const Gid& source) {
  return source.is_ipv4() == mgid.is_ipv4() && can_be_a_hosts(source);
}

// The destination MAC address of frames to a group: 01:00:5e and the low 23 bits of an IPv4 group
// (RFC 1112), 33:33 and the last 32 bits of an IPv6 group (RFC 2464). The MGID must be valid.
MacAddress mac_of(const Gid& mgid);

}  // namespace uroce::group

#endif  // UROCE_GROUP_MGID_H
