// SPDX-License-Identifier: BSD-3-Clause
// How many queue pairs are in each group, and how many groups need each MAC address.
#include "device/group_registry.h"

#include <cerrno>

namespace uroce::device {

uint32_t GroupRegistry::members(const Gid& group) const {
  const auto found = members_.find(group);
  return found == members_.end() ? 0 : found->second;
}

int GroupRegistry::room_for(const Gid& group) const {
  const uint32_t here = members(group);
  if (here == 0 && members_.size() >= limits_.group_max) return -ENOMEM;
  if (total_ >= limits_.membership_max) return -ENOMEM;
  return here >= limits_.group_qp_max ? -ENOMEM : 0;
}

bool GroupRegistry::add_member(const Gid& group) {
  ++total_;
  return ++members_[group] == 1;
}

bool GroupRegistry::remove_member(const Gid& group) {
  const auto found = members_.find(group);
  if (found == members_.end()) return false;
  --total_;
  if (--found->second > 0) return false;
  members_.erase(found);
  return true;
}

bool GroupRegistry::add_mac(const MacAddress& mac) { return ++macs_[mac] == 1; }

bool GroupRegistry::remove_mac(const MacAddress& mac) {
  const auto found = macs_.find(mac);
  if (found == macs_.end() || --found->second > 0) return false;
  macs_.erase(found);
  return true;
}

std::vector<MacAddress> GroupRegistry::macs() const {
  std::vector<MacAddress> result;
  result.reserve(macs_.size());
  for (const auto& [mac, count] : macs_) result.push_back(mac);
  return result;
}

}  // namespace uroce::device
