// SPDX-License-Identifier: BSD-3-Clause
// What the IGMP and the MLD host have in common: settings and counters.
#ifndef UROCE_GROUP_HOST_CONFIG_H
#define UROCE_GROUP_HOST_CONFIG_H

#include <cstdint>

#include "base/counter.h"
#include "base/types.h"
#include "wire/membership.h"

namespace uroce::group {

struct HostConfig {
  MacAddress mac;
  // Source of the reports. IGMP: an IPv4 address of the port, or zero for 0.0.0.0. MLD: its
  // link-local address, or zero for ::. Both may be set later.
  Gid address;
  uint16_t vlan_id = 0;       // 0: untagged
  uint32_t mtu_bytes = 1500;  // IP MTU, 256 … 65535: reports are split to it
  uint32_t groups_max = 8192;
  uint64_t seed = 0;  // for delays and the hash key: random in the product

  wire::LinkSource link() const { return {mac, vlan_id != 0, vlan_id}; }
};

struct HostCounters {
  Counter queries_received;
  Counter reports_sent;  // frames
  Counter records_sent;
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_HOST_CONFIG_H
