// SPDX-License-Identifier: BSD-3-Clause
// How many queue pairs of the device are in each group and listen to which sources, and how many
// groups need each MAC address: what decides when a filter opens and closes. Pure counting.
//
// 32 IPv4 groups (and IPv6 groups with equal last 32 bits) share one MAC address, so it is counted
// apart.
#ifndef UROCE_DEVICE_GROUP_REGISTRY_H
#define UROCE_DEVICE_GROUP_REGISTRY_H

#include <cstdint>
#include <map>
#include <vector>

#include "base/source_filter.h"
#include "base/types.h"
#include "device/limits.h"

namespace uroce::device {

// What the members of a group together listen to (RFC 3376 3.2): who takes every source makes those
// of the others needless.
struct GroupListeners {
  FilterMode mode = FilterMode::kInclude;
  std::vector<Gid> sources;  // ascending
};

class GroupRegistry {
 public:
  explicit GroupRegistry(const DeviceLimits& limits) : limits_(limits) {}

  // The setting (doc/configuration.md) whose limit one more member of this group, or one more
  // source, would pass (IBA 11.3: attach); nullptr: there is room.
  const char* limit_met(const Gid& group, bool member, bool source) const;
  // Members of a group.
  uint32_t members(const Gid& group) const;

  // A member listens to a source from now on, or to every one (zero); `joins`: it is a new one.
  // And back: `leaves`: it was its last. Both return whether listeners() has changed.
  bool add(const Gid& group, bool joins, const Gid& source);
  bool remove(const Gid& group, bool leaves, const Gid& source);
  GroupListeners listeners(const Gid& group) const;

  // Returns whether the set of MAC addresses has changed.
  bool add_mac(const MacAddress& mac);
  bool remove_mac(const MacAddress& mac);
  // The set, sorted, each once; good until the next change. Kept as it is handed out: a port takes
  // the whole of it at every change.
  const std::vector<MacAddress>& macs() const { return macs_; }

  uint32_t group_count() const { return static_cast<uint32_t>(groups_.size()); }
  uint32_t member_total() const { return total_; }

 private:
  struct Group {
    uint32_t members = 0;
    uint32_t takes_all = 0;           // of them: listen to every source
    std::map<Gid, uint32_t> sources;  // how many of the others listen to each
  };

  const DeviceLimits limits_;
  std::map<Gid, Group> groups_;
  std::vector<MacAddress> macs_;
  std::vector<uint32_t> mac_users_;  // of each of macs_: how many groups and addresses need it
  uint32_t total_ = 0;
  uint32_t source_total_ = 0;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_GROUP_REGISTRY_H
