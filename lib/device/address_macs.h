// SPDX-License-Identifier: BSD-3-Clause
// The group MAC addresses that must pass an own port so that others can find its addresses and
// routers can ask what it listens to. Pure.
#ifndef UROCE_DEVICE_ADDRESS_MACS_H
#define UROCE_DEVICE_ADDRESS_MACS_H

#include <set>
#include <span>

#include "base/types.h"
#include "engine/command.h"

namespace uroce::device {

// For an IPv6 address its solicited-node group, where neighbours ask for it (RFC 4861, 7.2.1), and
// all nodes (advertisements, MLD queries); for an IPv4 address all systems (IGMP queries). ARP
// comes by broadcast.
std::set<MacAddress> macs_of_addresses(std::span<const engine::LocalAddress> addresses);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_ADDRESS_MACS_H
