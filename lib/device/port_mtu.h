// SPDX-License-Identifier: BSD-3-Clause
// The path MTU that a port offers, from the largest frame that it carries.
#ifndef UROCE_DEVICE_PORT_MTU_H
#define UROCE_DEVICE_PORT_MTU_H

#include <cstdint>
#include <optional>

#include "base/types.h"

namespace uroce::device {

inline constexpr uint32_t kEthernetBytes = 14;
// IPv6 40, UDP 8, BTH 12, RETH 16, ImmDt 4, ICRC 4: the most that stands around the payload.
inline constexpr uint32_t kHeaderReserveBytes = 84;

// The largest path MTU whose packets always fit into frames of `frame_bytes_max` (Ethernet header
// included, FCS and VLAN tag not); nothing when not even 256 bytes do.
constexpr std::optional<PathMtu> path_mtu_for_frame(uint32_t frame_bytes_max) {
  std::optional<PathMtu> best;
  for (const PathMtu mtu :
       {PathMtu::k256, PathMtu::k512, PathMtu::k1024, PathMtu::k2048, PathMtu::k4096}) {
    if (frame_bytes_max >= bytes(mtu) + kEthernetBytes + kHeaderReserveBytes) best = mtu;
  }
  return best;
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_PORT_MTU_H
