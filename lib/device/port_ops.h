// SPDX-License-Identifier: BSD-3-Clause
// The device's only view of a port: a small control-path interface. lib/nic implements it on DPDK
// ports, the simulator on its virtual wire. Never called by an engine or on the packet path.
#ifndef UROCE_DEVICE_PORT_OPS_H
#define UROCE_DEVICE_PORT_OPS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/source_filter.h"
#include "base/types.h"

namespace uroce::device {

// Own: uroce answers ARP/ND/echo, resolves neighbours and speaks IGMP/MLD itself.
// Shared: the addresses are the kernel's; the kernel does all that and uroce stays silent.
enum class PortOwnership : uint8_t { kOwn, kShared };

// How group packets get through the port, for display and decisions.
enum class FilterKind : uint8_t {
  kNone,              // the port filters nothing (ring, memif, null, pcap, the simulator)
  kPortList,          // rte_eth_dev_set_mc_addr_list
  kKernelMembership,  // packet-socket membership on a kernel interface (own)
  kKernelGroup,       // kernel group join (shared)
  kAllMulticast,      // the port's all-multicast switch
};

struct PortAddress {
  Gid address;
  uint8_t prefix_length = 0;  // of the IP family: 0 … 32 or 0 … 128
};

struct PortInfo {
  std::string name;  // DPDK port name
  MacAddress mac;
  PortOwnership ownership = PortOwnership::kOwn;
  uint32_t frame_bytes_max = 0;  // largest Ethernet frame without FCS and VLAN tag, header included
  uint32_t link_mbps = 0;        // 0: unknown
  bool link_up = false;
  bool awaits_peer = false;   // down only because the other end, a process, has not come yet
  uint32_t link_changes = 0;  // grows when the link goes or comes, where somebody counts; else 0
  int numa_node = -1;
  uint16_t vlan_id = 0;  // 0: untagged
  uint32_t queue_count = 1;
  FilterKind filter = FilterKind::kNone;
  int kernel_if_index = 0;  // 0: no kernel interface behind it
};

// All calls: control threads, one at a time (the device's lock). Results: 0 or a negative errno.
class PortOps {
 public:
  virtual ~PortOps() = default;

  // Cheap; link state is read from the port at each call.
  virtual PortInfo info() = 0;

  // Addresses of the port now: configured (own) or the kernel's (shared), in a stable order.
  virtual std::vector<PortAddress> addresses() = 0;

  // Own ports: the whole set of group MACs that must pass, sorted, each once. Returns when the
  // filter is in force.
  virtual int set_multicast_macs(std::span<const MacAddress> macs) = 0;

  // Shared ports: what the kernel listens to in the group from now on (filter and IGMP/MLD), after
  // kNoSource nothing. An error has changed nothing, and set_last_error(). Own ports: -ENOTSUP.
  virtual int set_group_filter(const Gid& group, const SourceFilter& filter) = 0;

  // Shared ports: next-hop MAC by the kernel's routes and neighbours; waits at most `limit`, and
  // when asked again after -ETIMEDOUT goes on where it was. -EHOSTUNREACH: no route. Own ports:
  // -ENOTSUP (the engine resolves).
  virtual int resolve(const Gid& destination, Duration limit, MacAddress& mac) = 0;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_PORT_OPS_H
