// SPDX-License-Identifier: BSD-3-Clause
// Keeps the kernel silent about RoCE on a shared port, and a second stack away.
#ifndef UROCE_NIC_PORT_GUARD_H
#define UROCE_NIC_PORT_GUARD_H

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/types.h"
#include "nic/descriptor.h"

namespace uroce::nic {

// One UDP socket per address, bound to the RoCEv2 port behind a filter that drops everything: the
// kernel answers no packet with port-unreachable and queues none. Control thread.
class PortGuard {
 public:
  explicit PortGuard(int if_index) : if_index_(if_index) {}

  // Guards exactly these addresses from now on. kAlreadyExists: one line that says which address
  // another stack holds; those that could be guarded are.
  absl::Status hold(std::span<const Gid> addresses);

 private:
  struct Guarded {
    Gid address;
    Descriptor socket;
  };

  const int if_index_;
  std::vector<Guarded> guarded_;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_PORT_GUARD_H
