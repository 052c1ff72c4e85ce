// SPDX-License-Identifier: BSD-3-Clause
// The RDMA device: coming up, going down, its port and its GID table.
#include "device/device.h"

#include <cerrno>
#include <memory>
#include <vector>

#include "device/address_macs.h"
#include "device/port_mtu.h"

namespace uroce::device {
namespace {

bool all_exclusive(std::span<engine::EngineSeat* const> seats) {
  for (const engine::EngineSeat* seat : seats) {
    if (seat->mode() != engine::DriveMode::kInlineExclusive) return false;
  }
  return true;
}

}  // namespace

Device::Device(const DeviceSetup& setup)
    : name_(setup.name),
      limits_(setup.limits),
      shared_(*setup.shared),
      port_(*setup.port),
      gateway_ipv4_(setup.gateway_ipv4),
      gateway_ipv6_(setup.gateway_ipv6),
      privileged_qkey_(setup.privileged_qkey),
      exclusive_(all_exclusive(setup.seats)),
      ids_(*setup.ids),
      caller_(setup.seats, setup.driver),
      keys_(setup.shared->keys->capacity(), *setup.ids),
      qpns_(engine::QpnLayout::of(*setup.shared), *setup.ids),
      gids_(setup.limits.gid_table_length),
      groups_(setup.limits) {}

uint32_t Device::qp_max() const { return shared_.qp_slots_per_engine * shared_.engine_count; }

uint32_t Device::mr_max() const { return shared_.keys->capacity(); }

// Returns whether the frame size is enough for a path MTU.
bool Device::take_port_info(const PortInfo& info) {
  info_ = info;
  const std::optional<PathMtu> mtu = path_mtu_for_frame(info.frame_bytes_max);
  if (!mtu) return false;
  active_mtu_ = *mtu;
  mtu_bytes_.store(bytes(*mtu), std::memory_order_relaxed);
  return true;
}

int Device::tell_addresses(Lock& lock, const std::vector<engine::LocalAddress>& addresses) {
  // Not read any more once the command is done, but a command may outlive a wait.
  struct Told : engine::SetAddressesCommand {
    std::vector<engine::LocalAddress> list;
  };
  return caller_.call_all(lock, [&] {
    auto command = std::make_shared<Told>();
    command->list = addresses;
    command->addresses = command->list;
    command->gateway_ipv4 = gateway_ipv4_;
    command->gateway_ipv6 = gateway_ipv6_;
    return command;
  });
}

// On an own port the filter is open before the engine speaks of an address, and is closed after.
int Device::change_addresses(Lock& lock, const std::vector<engine::LocalAddress>& addresses) {
  if (info_.ownership == PortOwnership::kShared) return tell_addresses(lock, addresses);
  const std::set<MacAddress> macs = macs_of_addresses(addresses);
  if (const int error = open_address_filter(macs); error != 0) return error;
  const int error = tell_addresses(lock, addresses);
  if (error == 0) close_address_filter(macs);
  return error;
}

int Device::start() {
  Lock lock(lock_);
  std::vector<PortAddress> addresses;
  PortInfo info;
  {
    const std::lock_guard port_guard(port_lock_);
    info = port_.info();
    addresses = port_.addresses();
  }
  if (!take_port_info(info)) return -EINVAL;
  gids_.update(info_.mac, addresses);
  return change_addresses(lock, gids_.local_addresses());
}

int Device::shut_down() {
  Lock lock(lock_);
  closing_ = true;
  int first_error = 0;
  const auto keep = [&](int error) {
    if (first_error == 0) first_error = error;
  };
  for (const auto& [qpn, qp] : qps_) {
    while (!qp->groups.empty()) {
      const Gid group = qp->groups.begin()->first;
      if (const int error = end_membership(*qp, group, lock); error != 0) {
        keep(error);
        break;
      }
    }
    auto command = std::make_shared<engine::ModifyQpCommand>();
    command->qpn = qp->qpn;
    command->mask = transport::kAttrState;
    command->attributes.state = transport::QpState::kErr;
    // From RESET there is no way to ERR, and nothing to flush.
    if (qp->handle->queues->state_word.load(std::memory_order_acquire) !=
        transport::QpState::kReset) {
      keep(caller_.call(qp->engine, command, lock));
    }
  }
  if (info_.ownership == PortOwnership::kOwn) keep(change_addresses(lock, {}));
  return first_error;
}

void Device::set_event_sink(EventSink sink, void* context) {
  const std::lock_guard guard(lock_);
  sink_ = sink;
  sink_context_ = context;
}

void Device::call_unlocked(const Quiesce& quiesce, Lock& lock) {
  if (!quiesce) return;
  lock.unlock();
  quiesce();
  lock.lock();
}

void Device::raise(Lock& lock, transport::EventType event) {
  const EventSink sink = sink_;
  void* const context = sink_context_;
  if (sink == nullptr) return;
  lock.unlock();
  sink(context, event);
  lock.lock();
}

void Device::refresh_link() {
  Lock lock(lock_);
  PortInfo info;
  {
    const std::lock_guard port_guard(port_lock_);
    info = port_.info();
  }
  const bool was_up = info_.link_up;
  const bool flapped = was_up && info.link_up && info.link_changes != info_.link_changes;
  // A frame size that has become too small for any path MTU keeps the old one: the port drops what
  // is too long.
  take_port_info(info);
  if (info.link_up == was_up && !flapped) return;
  // It was down for a moment, perhaps to come up at another switch: that is two changes.
  if (flapped) raise(lock, transport::EventType::kPortErr);
  if (info.link_up && info.ownership == PortOwnership::kOwn) {
    caller_.call(0, std::make_shared<engine::LinkUpCommand>(), lock);
  }
  raise(lock, info.link_up ? transport::EventType::kPortActive : transport::EventType::kPortErr);
}

int Device::rescan_addresses() {
  Lock lock(lock_);
  std::vector<PortAddress> addresses;
  {
    const std::lock_guard port_guard(port_lock_);
    addresses = port_.addresses();
  }
  const bool changed = gids_.update(info_.mac, addresses);
  if (!changed && !addresses_due_) return 0;
  const int error = change_addresses(lock, gids_.local_addresses());
  addresses_due_ = error != 0;
  if (changed) raise(lock, transport::EventType::kGidChange);
  return error;
}

PortState Device::port_state() {
  const std::lock_guard guard(lock_);
  PortState state;
  {
    const std::lock_guard port_guard(port_lock_);
    state.info = port_.info();
  }
  state.active_mtu = active_mtu_;
  for (uint32_t i = 0; i < caller_.engine_count(); ++i) {
    const transport::DropCounters& drops = caller_.seat(i).engine().drops();
    state.pkey_violations += drops.by_reason[static_cast<size_t>(wire::Drop::kPkey)].value();
    state.qkey_violations += drops.by_reason[static_cast<size_t>(wire::Drop::kQkey)].value();
  }
  return state;
}

int Device::query_gid(int64_t index, Gid& gid) {
  const std::lock_guard guard(lock_);
  return gids_.query(index, gid);
}

int Device::find_gid(const Gid& gid) {
  const std::lock_guard guard(lock_);
  const std::optional<uint32_t> index = gids_.find(gid);
  return index ? static_cast<int>(*index) : -ENOENT;
}

}  // namespace uroce::device
