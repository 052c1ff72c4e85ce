// SPDX-License-Identifier: BSD-3-Clause
// Link state from ethdev, or from the kernel where an interface of its own is behind the port:
// ethdev does not follow that one.
#include "nic/link_watch.h"

#include <rte_ethdev.h>

namespace uroce::nic {

LinkWatch::LinkWatch(uint16_t port_id, int kernel_if_index) : port_id_(port_id) {
  if (kernel_if_index != 0) {
    auto opened = KernelInterface::open(kernel_if_index);
    if (opened.ok()) kernel_ = std::move(*opened);
  }
  seen_ = look();
}

LinkWatch::Seen LinkWatch::look() {
  if (kernel_ != nullptr) {
    const auto link = kernel_->link();
    return link.ok() ? Seen{link->up, 0, link->mtu, link->carrier_changes} : Seen{};
  }
  rte_eth_link link{};
  rte_eth_link_get_nowait(port_id_, &link);
  return {link.link_status == RTE_ETH_LINK_UP, link.link_speed, 0, 0};
}

bool LinkWatch::changed() {
  const Seen now = look();
  const bool differs = now != seen_;
  seen_ = now;
  return differs;
}

}  // namespace uroce::nic
