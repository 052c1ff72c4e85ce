// SPDX-License-Identifier: BSD-3-Clause
// What the user says of one port.
#ifndef UROCE_NIC_PORT_CONFIG_H
#define UROCE_NIC_PORT_CONFIG_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "device/port_ops.h"
#include "nic/fault_plan.h"

namespace uroce::nic {

enum class OwnershipWish : uint8_t {
  kAuto,  // shared where a kernel interface with addresses is behind the port, else own
  kOwn,
  kShared,
};

struct PortConfig {
  std::string name{};  // DPDK port name, such as "net_ring_u0", or its number, such as "0"
  OwnershipWish ownership = OwnershipWish::kAuto;
  // Own: the port's addresses. Shared: which of the kernel's to use; empty: all of them.
  std::vector<device::PortAddress> addresses{};
  Gid gateway_ipv4{};  // own ports; zero: none. The engine resolves, the port only keeps it.
  Gid gateway_ipv6{};
  uint16_t vlan_id = 0;             // 0: untagged
  uint16_t mtu = 0;                 // IP MTU; 0: what the port says, else 4184 (path MTU 4096)
  uint32_t queue_count = 1;         // one engine each
  uint16_t descriptors = 512;       // per queue and direction, a wish
  uint32_t frames_held_max = 1024;  // per queue: kept or handed over, not yet released
  bool promiscuous = false;
  bool privileged_qkey = false;  // users may set Q_Keys with bit 31
  // Own ports: the newest version that the engine speaks (0: none); nothing: the newest there is.
  std::optional<uint8_t> igmp_version{};
  std::optional<uint8_t> mld_version{};
  FaultPlan faults{};
  // The engines' clock; nullptr: packets have no time of the port's own.
  Time (*now)(void* context) = nullptr;
  void* now_context = nullptr;
  // Takes one line of warning, without newline; nullptr: silence. Control threads only.
  void (*log)(const std::string& line) = nullptr;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_PORT_CONFIG_H
