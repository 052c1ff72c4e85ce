// SPDX-License-Identifier: BSD-3-Clause
// Multicast membership of the device's queue pairs: filter, join, engine, in this order, and back.
//
// Opening: the port must let the group's frames in before the network is asked to send them, and
// both before a member waits for them. The network is asked for what all members together listen
// to. Closing: the engine first; its answer is the barrier after which no delivery starts. A step
// that fails undoes those before it; one that an engine does not answer in time is withdrawn, so
// that both sides go on agreeing on who is a member.
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/last_error.h"
#include "base/log.h"
#include "device/device.h"
#include "group/mgid.h"

namespace uroce::device {

namespace {

// An error and its cause, for those who tell a person.
int refuse(int error, const std::string& cause) {
  set_last_error(cause);
  return error;
}

int no_member() { return refuse(-EINVAL, "the queue pair is no member"); }

}  // namespace

int Device::call_member(engine::Command::Kind kind, const Qp& qp, const Gid& group,
                        const Gid& source, Lock& lock) {
  auto command = std::make_shared<engine::MulticastCommand>(kind);
  command->qpn = qp.qpn;
  command->group = group;
  command->source = source;
  return caller_.call_or_withdraw(qp.engine, command, lock);
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

// Tells the network what the members of a group together listen to. Asking for less stands even if
// the engine is late: it takes commands in their order, and each says the whole.
int Device::tell_filter(const Gid& group, bool asks_more, Lock& lock) {
  GroupListeners listeners = groups_.listeners(group);
  if (info_.ownership == PortOwnership::kShared) {
    const std::lock_guard port_guard(port_lock_);
    return port_.set_group_filter(group, {listeners.mode, listeners.sources});
  }
  auto command = std::make_shared<engine::GroupFilterCommand>();
  command->group = group;
  command->mode = listeners.mode;
  command->sources = std::move(listeners.sources);
  return asks_more ? caller_.call_or_withdraw(0, command, lock) : caller_.call(0, command, lock);
}

// A member or a source is coming that asks the network for more; the first member lets the group's
// frames in.
int Device::open_group(const Gid& group, bool first, Lock& lock) {
  const MacAddress mac = group::mac_of(group);
  const bool own = info_.ownership != PortOwnership::kShared;
  if (own && first && groups_.add_mac(mac)) {
    if (const int error = set_filter(); error != 0) {
      groups_.remove_mac(mac);
      return error;
    }
  }
  const int error = tell_filter(group, true, lock);
  if (error != 0 && own && first && groups_.remove_mac(mac)) set_filter();
  return error;
}

// One has gone. What fails here cannot be undone and leaves at worst a filter open.
void Device::close_group(const Gid& group, bool last, Lock& lock) {
  tell_filter(group, false, lock);
  if (info_.ownership == PortOwnership::kShared || !last) return;
  if (groups_.remove_mac(group::mac_of(group))) set_filter();
}

int Device::attach_multicast(QpHandle& handle, const Gid& group) {
  return attach(handle, group, Gid{});
}

int Device::attach_multicast_source(QpHandle& handle, const Gid& group, const Gid& source) {
  if (!group::is_valid_source(group, source)) return -EINVAL;
  return attach(handle, group, source);
}

// A zero source: every one.
int Device::attach(QpHandle& handle, const Gid& group, const Gid& source) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  // IBA 11.3.1: a group, and an unreliable datagram queue pair.
  if (!group::is_valid_mgid(group) || qp.type != transport::QpType::kUd) return -EINVAL;
  const bool every = source.is_zero();
  const auto member = qp.groups.find(group);
  const bool joins = member == qp.groups.end();
  if (!joins) {
    const bool by_source = !member->second.empty();
    if (every && by_source) {
      return refuse(-EADDRINUSE, "the queue pair is a member by source: leave the group first");
    }
    if (!every && !by_source) {
      return refuse(-EINVAL, "the queue pair is a member of every source: leave the group first");
    }
    if (every || member->second.contains(source)) return 0;
  }
  if (closing_) return -ENODEV;
  if (qp.busy) return -EBUSY;
  if (const char* limit = groups_.limit_met(group, joins, !every)) {
    return refuse(-ENOMEM, std::string("a limit is reached: raise --limit ") + limit);
  }
  const bool first = groups_.members(group) == 0;
  const bool asks_more = groups_.add(group, joins, source);
  int error = asks_more ? open_group(group, first, lock) : 0;
  const bool opened = asks_more && error == 0;
  if (error == 0) {
    error = call_member(engine::Command::Kind::kAttachMulticast, qp, group, source, lock);
  }
  if (error != 0) {
    groups_.remove(group, joins, source);
    if (opened) {
      close_group(group, groups_.members(group) == 0, lock);
      set_last_error("");  // what it may have said is not why
    }
    return error;
  }
  std::set<Gid>& sources = qp.groups[group];
  if (!every) sources.insert(source);
  return 0;
}

int Device::end_membership(Qp& qp, const Gid& group, Lock& lock) {
  const auto kind = engine::Command::Kind::kDetachMulticast;
  if (const int error = call_member(kind, qp, group, Gid{}, lock); error != 0) return error;
  const std::set<Gid> sources = std::move(qp.groups[group]);
  qp.groups.erase(group);
  bool asks_less = sources.empty() && groups_.remove(group, true, Gid{});
  for (const Gid& source : sources) {
    asks_less |= groups_.remove(group, source == *sources.rbegin(), source);
  }
  if (asks_less) close_group(group, groups_.members(group) == 0, lock);
  return 0;
}

int Device::detach_multicast(QpHandle& handle, const Gid& group) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  if (!group::is_valid_mgid(group) || qp.type != transport::QpType::kUd) return -EINVAL;
  if (!qp.groups.contains(group)) return no_member();
  return end_membership(qp, group, lock);
}

int Device::detach_multicast_source(QpHandle& handle, const Gid& group, const Gid& source) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  if (!group::is_valid_mgid(group) || qp.type != transport::QpType::kUd) return -EINVAL;
  const auto member = qp.groups.find(group);
  if (member == qp.groups.end()) return no_member();
  if (member->second.empty()) return refuse(-EINVAL, "the queue pair is no member by source");
  if (!member->second.contains(source)) {
    return refuse(-EADDRNOTAVAIL, "the queue pair is a member by other sources");
  }
  if (member->second.size() == 1) return end_membership(qp, group, lock);
  const auto kind = engine::Command::Kind::kDetachMulticast;
  if (const int error = call_member(kind, qp, group, source, lock); error != 0) return error;
  qp.groups[group].erase(source);
  if (groups_.remove(group, false, source)) close_group(group, false, lock);
  return 0;
}

}  // namespace uroce::device
