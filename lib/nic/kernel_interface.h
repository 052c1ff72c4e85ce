// SPDX-License-Identifier: BSD-3-Clause
// What the kernel knows of a network interface, by rtnetlink: link, addresses, routes, neighbours.
#ifndef UROCE_NIC_KERNEL_INTERFACE_H
#define UROCE_NIC_KERNEL_INTERFACE_H

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/types.h"
#include "device/port_ops.h"

struct nl_sock;

namespace uroce::nic {

struct KernelLink {
  std::string name;
  MacAddress mac;
  uint32_t mtu = 0;              // IP MTU
  bool up = false;               // administratively up and with carrier
  uint32_t carrier_changes = 0;  // since the interface was made
};

// Control thread. Sees the network namespace of the thread that opened it.
class KernelInterface {
 public:
  static absl::StatusOr<std::unique_ptr<KernelInterface>> open(int if_index);
  ~KernelInterface();
  KernelInterface(const KernelInterface&) = delete;
  KernelInterface& operator=(const KernelInterface&) = delete;

  int index() const { return if_index_; }
  absl::StatusOr<KernelLink> link();

  // Usable addresses in the kernel's order, IPv4 before IPv6; `tentative` says that there are
  // more whose duplicate detection still runs.
  absl::StatusOr<std::vector<device::PortAddress>> addresses(bool* tentative = nullptr);

  // The VLAN interface with this ID on top of this one; 0: there is none.
  int vlan_child(uint16_t vlan_id);

  // Next-hop MAC of `destination` by the kernel's routes out of this interface and its neighbour
  // table; asks the kernel to resolve what is not known and waits at most `limit`. 0,
  // -EHOSTUNREACH (no route this way), -ETIMEDOUT, -EINVAL (multicast), -EIO. Asked again soon
  // after -ETIMEDOUT it goes on with the question that is under way.
  int resolve(const Gid& destination, Duration limit, MacAddress& mac);

 private:
  // A neighbour that the kernel was asked for and does not know yet.
  struct Asking {
    std::chrono::steady_clock::time_point next{};  // when to ask again
    bool before = false;
  };

  KernelInterface(int if_index, nl_sock* socket) : if_index_(if_index), socket_(socket) {}

  int wait_for_neighbour(const Gid& hop, Duration limit, MacAddress& mac);

  const int if_index_;
  nl_sock* const socket_;
  std::map<Gid, Asking> asking_;
};

// "10.9.0.1" or "fd00:9::1".
std::string gid_text(const Gid& gid);

}  // namespace uroce::nic

#endif  // UROCE_NIC_KERNEL_INTERFACE_H
