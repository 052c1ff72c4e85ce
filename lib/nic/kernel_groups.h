// SPDX-License-Identifier: BSD-3-Clause
// Group joins by the kernel on a shared port: it programs the filter and speaks IGMP and MLD.
#ifndef UROCE_NIC_KERNEL_GROUPS_H
#define UROCE_NIC_KERNEL_GROUPS_H

#include <cstddef>
#include <vector>

#include "base/types.h"
#include "nic/descriptor.h"

namespace uroce::nic {

// The kernel limits the groups of one socket (20 of IPv4 by default), so there are as many sockets
// as it takes. They are bound to no port and receive nothing. Control thread. The destructor
// leaves every group.
class KernelGroups {
 public:
  explicit KernelGroups(int if_index) : if_index_(if_index) {}

  // 0, -EEXIST (joined already), -EINVAL (not a group), or the kernel's error.
  int join(const Gid& group);
  // 0, -ENOENT (not joined).
  int leave(const Gid& group);

  size_t socket_count() const { return holders_.size(); }

 private:
  struct Holder {
    Descriptor socket;
    bool ipv4 = false;
    bool full = false;
    std::vector<Gid> groups;
  };

  const int if_index_;
  std::vector<Holder> holders_;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_KERNEL_GROUPS_H
