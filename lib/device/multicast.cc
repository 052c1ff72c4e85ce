// SPDX-License-Identifier: BSD-3-Clause
// Multicast membership of the device's queue pairs: filter, join, engine, in this order, and back.
//
// Opening: the port must let the group's frames in before the network is asked to send them, and
// both before a member waits for them. Closing: the engine first; its answer is the barrier after
// which no delivery starts. A step that fails undoes those before it.
#include <cerrno>
#include <memory>
#include <set>
#include <vector>

#include "base/log.h"
#include "device/device.h"
#include "group/mgid.h"

namespace uroce::device {

int Device::call_group(engine::Command::Kind kind, const Gid& group, Lock& lock) {
  auto command = std::make_shared<engine::GroupCommand>(kind);
  command->group = group;
  return caller_.call(0, command, lock);
}

int Device::set_filter() {
  const std::lock_guard port_guard(port_lock_);
  return port_.set_multicast_macs(groups_.macs());
}

// Lets through what the port's own addresses need. A port without any means for it is still good
// for all but being found by IPv6 neighbours.
int Device::open_address_filter(const std::set<MacAddress>& macs) {
  std::vector<MacAddress> added;
  for (const MacAddress& mac : macs) {
    if (address_macs_.contains(mac)) continue;
    groups_.add_mac(mac);
    added.push_back(mac);
  }
  if (added.empty()) return 0;
  const int error = set_filter();
  if (error == 0) {
    address_macs_.insert(added.begin(), added.end());
    return 0;
  }
  for (const MacAddress& mac : added) groups_.remove_mac(mac);
  if (error != -ENOTSUP) return error;
  log(LogLevel::kWarning,
      "port " + info_.name +
          ": it lets no multicast frame through, so IPv6 neighbours cannot find "
          "its addresses");
  return 0;
}

void Device::close_address_filter(const std::set<MacAddress>& macs) {
  const size_t removed = std::erase_if(address_macs_, [&](const MacAddress& mac) {
    if (macs.contains(mac)) return false;
    groups_.remove_mac(mac);
    return true;
  });
  if (removed != 0) set_filter();
}

// The first member is coming: lets the group's frames in.
int Device::open_group(const Gid& group, Lock& lock) {
  if (info_.ownership == PortOwnership::kShared) {
    const std::lock_guard port_guard(port_lock_);
    return port_.join_group(group);
  }
  const MacAddress mac = group::mac_of(group);
  if (groups_.add_mac(mac)) {
    if (const int error = set_filter(); error != 0) {
      groups_.remove_mac(mac);
      return error;
    }
  }
  const int error = call_group(engine::Command::Kind::kJoinGroup, group, lock);
  if (error != 0 && groups_.remove_mac(mac)) set_filter();
  return error;
}

// The last member has gone. What fails here cannot be undone and leaves at worst a filter open.
void Device::close_group(const Gid& group, Lock& lock) {
  if (info_.ownership == PortOwnership::kShared) {
    const std::lock_guard port_guard(port_lock_);
    port_.leave_group(group);
    return;
  }
  call_group(engine::Command::Kind::kLeaveGroup, group, lock);
  if (groups_.remove_mac(group::mac_of(group))) set_filter();
}

int Device::attach_multicast(QpHandle& handle, const Gid& group) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  // IBA 11.3.1: a group, and an unreliable datagram queue pair.
  if (!group::is_valid_mgid(group) || qp.type != transport::QpType::kUd) return -EINVAL;
  if (qp.groups.contains(group)) return 0;
  if (closing_) return -ENODEV;
  if (qp.busy) return -EBUSY;
  if (const int error = groups_.room_for(group); error != 0) return error;
  const bool first = groups_.members(group) == 0;
  if (first) {
    if (const int error = open_group(group, lock); error != 0) return error;
  }
  auto command =
      std::make_shared<engine::MulticastCommand>(engine::Command::Kind::kAttachMulticast);
  command->qpn = qp.qpn;
  command->group = group;
  if (const int error = caller_.call(qp.engine, command, lock); error != 0) {
    if (first) close_group(group, lock);
    return error;
  }
  groups_.add_member(group);
  qp.groups.insert(group);
  return 0;
}

int Device::end_membership(Qp& qp, const Gid& group, Lock& lock) {
  auto command =
      std::make_shared<engine::MulticastCommand>(engine::Command::Kind::kDetachMulticast);
  command->qpn = qp.qpn;
  command->group = group;
  if (const int error = caller_.call(qp.engine, command, lock); error != 0) return error;
  qp.groups.erase(group);
  if (groups_.remove_member(group)) close_group(group, lock);
  return 0;
}

int Device::detach_multicast(QpHandle& handle, const Gid& group) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  if (!group::is_valid_mgid(group) || qp.type != transport::QpType::kUd) return -EINVAL;
  if (!qp.groups.contains(group)) return -EINVAL;
  return end_membership(qp, group, lock);
}

}  // namespace uroce::device
