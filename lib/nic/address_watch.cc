// SPDX-License-Identifier: BSD-3-Clause
// Two lists of addresses, that of the last look and that of now.
#include "nic/address_watch.h"

#include <algorithm>

namespace uroce::nic {
namespace {

bool same(const device::PortAddress& a, const device::PortAddress& b) {
  return a.address == b.address && a.prefix_length == b.prefix_length;
}

}  // namespace

AddressWatch::AddressWatch(int if_index) {
  if (if_index == 0) return;
  auto opened = KernelInterface::open(if_index);
  if (!opened.ok()) return;
  kernel_ = *std::move(opened);
  changed();
}

bool AddressWatch::changed() {
  if (kernel_ == nullptr) return false;
  auto now = kernel_->addresses();
  if (!now.ok() || std::equal(now->begin(), now->end(), seen_.begin(), seen_.end(), same)) {
    return false;
  }
  seen_ = *std::move(now);
  return true;
}

}  // namespace uroce::nic
