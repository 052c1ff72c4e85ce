// SPDX-License-Identifier: BSD-3-Clause
// Looks whether the kernel's addresses of an interface have changed.
#ifndef UROCE_NIC_ADDRESS_WATCH_H
#define UROCE_NIC_ADDRESS_WATCH_H

#include <memory>
#include <vector>

#include "nic/kernel_interface.h"

namespace uroce::nic {

// One thread at a time, any one, also while others use the port: it has a netlink socket of its
// own.
class AddressWatch {
 public:
  // `if_index` 0: nothing to look at, nothing ever changes.
  explicit AddressWatch(int if_index);

  // True when the usable addresses differ from what the last call found; the first call compares
  // with the time of construction. An interface that is gone has none; a look that fails, for want
  // of memory for instance, is not a change.
  bool changed();

 private:
  std::unique_ptr<KernelInterface> kernel_;
  std::vector<device::PortAddress> seen_;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_ADDRESS_WATCH_H
