// SPDX-License-Identifier: BSD-3-Clause
// How large a frame a port really carries, which ethdev alone cannot say.
#ifndef UROCE_NIC_FRAME_SIZE_H
#define UROCE_NIC_FRAME_SIZE_H

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace uroce::nic {

// The IP MTU that carries path MTU 4096 with any header.
inline constexpr uint32_t kFullMtu = 4096 + 84 + 4;

// net_af_packet's framesz for packets of this IP MTU: a power of two.
uint32_t ring_frame_wanted(uint32_t mtu);

// What is known of the port before it is configured.
struct FrameSizeFacts {
  std::string port{};          // for messages
  std::string driver{};        // ethdev's driver_name
  std::string interface {};    // kernel interface; empty: none
  uint32_t interface_mtu = 0;  // its IP MTU
  std::string devargs{};       // the vdev's arguments, such as "iface=eth0,framesz=8192"
  uint32_t max_rx_pktlen = 0;  // rte_eth_dev_info
  uint16_t max_mtu = 0;        // rte_eth_dev_info
  uint16_t mtu_wish = 0;       // from the configuration; 0: none
};

struct FrameSize {
  uint32_t frame_bytes_max = 0;  // Ethernet header included, VLAN tag and FCS not
  uint16_t configure_mtu = 0;    // for rxmode.mtu; 0: leave it alone
  uint32_t room_bytes_min = 0;   // what an mbuf must hold behind its headroom
  std::string warning{};         // not empty: the port carries less than it could
};

// kFailedPrecondition, kInvalidArgument: one line that names the value that would do.
absl::StatusOr<FrameSize> choose_frame_size(const FrameSizeFacts& facts);

}  // namespace uroce::nic

#endif  // UROCE_NIC_FRAME_SIZE_H
