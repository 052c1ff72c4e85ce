// SPDX-License-Identifier: BSD-3-Clause
// Looks whether a port's link has changed, from a thread that may do nothing else to the port.
#ifndef UROCE_NIC_LINK_WATCH_H
#define UROCE_NIC_LINK_WATCH_H

#include <cstdint>
#include <memory>

#include "nic/kernel_interface.h"

namespace uroce::nic {

// One thread at a time, any one, also while other threads poll the port or make its control calls:
// it has a netlink socket of its own.
class LinkWatch {
 public:
  // `kernel_if_index` 0: no kernel interface behind the port.
  LinkWatch(uint16_t port_id, int kernel_if_index);

  // True when link state, speed or the interface's MTU differ from what the last call found, or the
  // kernel has counted changes of the carrier since: a link that was down for a moment. The first
  // call compares with the time of construction.
  bool changed();

 private:
  struct Seen {
    bool up = false;
    uint32_t mbps = 0;
    uint32_t mtu = 0;
    uint32_t carrier_changes = 0;
    bool operator==(const Seen&) const = default;
  };
  Seen look();

  const uint16_t port_id_;
  std::unique_ptr<KernelInterface> kernel_;
  Seen seen_;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_LINK_WATCH_H
