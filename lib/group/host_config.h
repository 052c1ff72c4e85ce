// SPDX-License-Identifier: BSD-3-Clause
// What the IGMP and the MLD host have in common: settings and counters.
#ifndef UROCE_GROUP_HOST_CONFIG_H
#define UROCE_GROUP_HOST_CONFIG_H

#include <cstdint>

#include "base/counter.h"
#include "base/types.h"
#include "wire/membership.h"

namespace uroce::group {

inline constexpr uint8_t kNewestVersion = 255;

struct HostConfig {
  MacAddress mac;
  // Source of the reports. IGMP: an IPv4 address of the port, or zero for 0.0.0.0. MLD: its
  // link-local address, or zero for ::. Both may be set later.
  Gid address;
  uint16_t vlan_id = 0;       // 0: untagged
  uint32_t mtu_bytes = 1500;  // IP MTU, 256 … 65535: reports are split to it
  uint32_t groups_max = 8192;
  uint32_t sources_max = 8192;  // in the filters of all groups together, at least 1
  // The newest version to speak, 1 … 3 of IGMP, 1 … 2 of MLD; queriers of older ones are followed
  // all the same. 0: be silent, groups are taken and nobody is told.
  uint8_t version_max = kNewestVersion;
  uint64_t seed = 0;  // for delays and the hash key: random in the product

  wire::LinkSource link() const { return {mac, vlan_id != 0, vlan_id}; }
};

struct HostCounters {
  Counter queries_received;
  Counter older_queries_received;  // of them, of an older version than ours
  Counter reports_sent;            // frames
  Counter records_sent;
  Counter leaves_sent;         // frames of the versions that report one group each
  Counter answers_suppressed;  // another host reported the group
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_HOST_CONFIG_H
