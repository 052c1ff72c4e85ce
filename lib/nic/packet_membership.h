// SPDX-License-Identifier: BSD-3-Clause
// Opens a kernel interface's filter for group MACs without making the kernel a group member.
#ifndef UROCE_NIC_PACKET_MEMBERSHIP_H
#define UROCE_NIC_PACKET_MEMBERSHIP_H

#include <span>
#include <vector>

#include "base/types.h"
#include "nic/descriptor.h"

namespace uroce::nic {

// A packet socket bound to no protocol (it receives nothing) holds one membership per MAC; no IGMP
// or MLD comes of it, and `ip maddr` shows it. Control thread. The destructor gives all back.
class PacketMembership {
 public:
  explicit PacketMembership(int if_index) : if_index_(if_index) {}

  // The whole set, sorted, each MAC once. 0 or a negative errno; then MACs that were new may be
  // missing, and none that is wanted was taken away.
  int set(std::span<const MacAddress> macs);

 private:
  int change(const MacAddress& mac, bool add);

  const int if_index_;
  Descriptor socket_;
  std::vector<MacAddress> macs_;  // in force, sorted
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_PACKET_MEMBERSHIP_H
