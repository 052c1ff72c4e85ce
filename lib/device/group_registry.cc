// SPDX-License-Identifier: BSD-3-Clause
// How many queue pairs are in each group, and how many groups need each MAC address.
#include "device/group_registry.h"

#include <algorithm>

namespace uroce::device {

uint32_t GroupRegistry::members(const Gid& group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? 0 : found->second.members;
}

const char* GroupRegistry::limit_met(const Gid& group, bool member, bool source) const {
  if (source && source_total_ >= limits_.source_max) return "multicast_sources";
  if (!member) return nullptr;
  const uint32_t here = members(group);
  if (here == 0 && groups_.size() >= limits_.group_max) return "multicast_groups";
  if (total_ >= limits_.membership_max) return "multicast_members";
  return here >= limits_.group_qp_max ? "members_per_group" : nullptr;
}

bool GroupRegistry::add(const Gid& group, bool joins, const Gid& source) {
  Group& entry = groups_[group];
  if (joins) {
    ++entry.members;
    ++total_;
  }
  if (source.is_zero()) return ++entry.takes_all == 1;
  ++source_total_;
  return ++entry.sources[source] == 1 && entry.takes_all == 0;
}

bool GroupRegistry::remove(const Gid& group, bool leaves, const Gid& source) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return false;
  Group& entry = found->second;
  bool changes = false;
  if (source.is_zero()) {
    changes = --entry.takes_all == 0;
  } else {
    --source_total_;
    const auto listener = entry.sources.find(source);
    if (--listener->second == 0) {
      entry.sources.erase(listener);
      changes = entry.takes_all == 0;
    }
  }
  if (leaves) {
    --total_;
    if (--entry.members == 0) groups_.erase(found);
  }
  return changes;
}

GroupListeners GroupRegistry::listeners(const Gid& group) const {
  GroupListeners result;
  const auto found = groups_.find(group);
  if (found == groups_.end()) return result;
  if (found->second.takes_all > 0) {
    result.mode = FilterMode::kExclude;
    return result;
  }
  result.sources.reserve(found->second.sources.size());
  for (const auto& [source, count] : found->second.sources) result.sources.push_back(source);
  return result;
}

bool GroupRegistry::add_mac(const MacAddress& mac) {
  const auto at = std::lower_bound(macs_.begin(), macs_.end(), mac);
  const auto users = mac_users_.begin() + (at - macs_.begin());
  if (at != macs_.end() && *at == mac) {
    ++*users;
    return false;
  }
  mac_users_.insert(users, 1);
  macs_.insert(at, mac);
  return true;
}

bool GroupRegistry::remove_mac(const MacAddress& mac) {
  const auto at = std::lower_bound(macs_.begin(), macs_.end(), mac);
  if (at == macs_.end() || *at != mac) return false;
  const auto users = mac_users_.begin() + (at - macs_.begin());
  if (--*users > 0) return false;
  mac_users_.erase(users);
  macs_.erase(at);
  return true;
}

}  // namespace uroce::device
