// SPDX-License-Identifier: BSD-3-Clause
// Multicast GIDs: group address to MGID and back, the MAC address of a group, and text.
//
// The MGID of an IPv4 group a.b.c.d is ::ffff:a.b.c.d; that of an IPv6 group is the address itself
// (the RoCEv2 annex, A17). Many groups share one MAC address (32 for IPv4): a MAC filter must be
// counted, and a received frame is judged by its IP address, never by its MAC.
#ifndef UROCE_GROUP_MGID_H
#define UROCE_GROUP_MGID_H

#include <array>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace uroce::group {

// First byte 0xff, or IPv4-mapped 224.0.0.0/4: what attach and detach accept.
constexpr bool is_valid_mgid(const Gid& gid) { return gid.is_multicast(); }

// The destination MAC address of frames to a group: 01:00:5e and the low 23 bits of an IPv4 group
// (RFC 1112), 33:33 and the last 32 bits of an IPv6 group (RFC 2464). The MGID must be valid.
MacAddress mac_of(const Gid& mgid);

// "239.1.2.1" or "ff1e::1:2".
struct MgidText {
  std::array<char, 46> text;
  const char* c_str() const { return text.data(); }
};
MgidText mgid_text(const Gid& mgid);

// The MGID of an IPv4 or IPv6 group as people write it, "::ffff:239.1.2.1" included. Nothing when
// the text is no address, or the address is no group. At most 45 characters are looked at.
std::optional<Gid> parse_mgid(std::string_view text);

}  // namespace uroce::group

#endif  // UROCE_GROUP_MGID_H
