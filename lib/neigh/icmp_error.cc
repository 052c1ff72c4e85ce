// SPDX-License-Identifier: BSD-3-Clause
// Whose packet an ICMP error is about, and counting it.
#include "neigh/icmp_error.h"

#include "base/bytes.h"
#include "wire/ip.h"

namespace uroce::neigh {

bool is_about_our_flow(const wire::IcmpMessage& error, const NextHop& hops) {
  const std::span<const uint8_t> quoted = error.data;
  const uint32_t fixed = error.ipv6 ? wire::kIpv6Bytes : wire::kIpv4Bytes;
  if (quoted.size() < fixed || quoted[0] >> 4 != (error.ipv6 ? 6 : 4)) return false;
  const uint8_t protocol = quoted[error.ipv6 ? 6 : 9];
  const uint32_t header = error.ipv6 ? fixed : (quoted[0] & 15u) * 4;
  if (protocol != wire::kProtocolUdp || header < fixed || quoted.size() < header + 4) return false;
  if (load_be16(quoted.data() + header + 2) != wire::kRoceUdpPort) return false;
  return hops.is_own(wire::load_address(quoted.data() + (error.ipv6 ? 8 : 12), error.ipv6));
}

wire::Drop count_icmp_error(const wire::IcmpMessage& error, const NextHop& hops,
                            HostStackCounters& counters) {
  if (!is_about_our_flow(error, hops)) return wire::Drop::kNotForUs;
  switch (error.kind) {
    case wire::IcmpKind::kPacketTooBig:
      ++counters.icmp_packet_too_big;
      break;
    case wire::IcmpKind::kPortUnreachable:
      ++counters.icmp_port_unreachable;
      break;
    default:
      ++counters.icmp_other_unreachable;
  }
  return wire::Drop::kNone;
}

}  // namespace uroce::neigh
