// SPDX-License-Identifier: BSD-3-Clause
// How many queue pairs of the device are in each group, and how many groups need each MAC address:
// what decides when a filter opens and closes. Pure counting.
//
// 32 IPv4 groups (and IPv6 groups with equal last 32 bits) share one MAC address, so it is counted
// apart.
#ifndef UROCE_DEVICE_GROUP_REGISTRY_H
#define UROCE_DEVICE_GROUP_REGISTRY_H

#include <cstdint>
#include <map>
#include <vector>

#include "base/types.h"
#include "device/limits.h"

namespace uroce::device {

class GroupRegistry {
 public:
  explicit GroupRegistry(const DeviceLimits& limits) : limits_(limits) {}

  // 0, or -ENOMEM: one more member of this group would pass a limit (IBA 11.3: attach).
  int room_for(const Gid& group) const;
  // Members of a group.
  uint32_t members(const Gid& group) const;

  // Returns whether it is the group's first.
  bool add_member(const Gid& group);
  // Returns whether it was the group's last.
  bool remove_member(const Gid& group);

  // Returns whether the set of MAC addresses has changed.
  bool add_mac(const MacAddress& mac);
  bool remove_mac(const MacAddress& mac);
  // The set, sorted, each once.
  std::vector<MacAddress> macs() const;

  uint32_t group_count() const { return static_cast<uint32_t>(members_.size()); }
  uint32_t member_total() const { return total_; }

 private:
  const DeviceLimits limits_;
  std::map<Gid, uint32_t> members_;
  std::map<MacAddress, uint32_t> macs_;
  uint32_t total_ = 0;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_GROUP_REGISTRY_H
