// SPDX-License-Identifier: BSD-3-Clause
// Address handles of the device, and finding the MAC address of a destination.
#include <cerrno>
#include <chrono>
#include <memory>

#include "device/device.h"
#include "device/path.h"

namespace uroce::device {
namespace {

constexpr Duration kResolveLimit = std::chrono::seconds(3);
// The engine gives up after kResolveLimit itself; its own answer is waited for a little longer.
constexpr Duration kResolveSlack = std::chrono::milliseconds(50);
// The kernel's answer is waited for in pieces, and between them the port and the device are free:
// other control calls go on, and inline the thread that waits is the one that drives the engines.
constexpr Duration kResolveSlice = std::chrono::milliseconds(5);

}  // namespace

int Device::resolve_shared(const Gid& destination, Lock& lock, MacAddress& mac) {
  const bool inline_mode = caller_.seat(0).mode() != engine::DriveMode::kWorker;
  const Time deadline = caller_.now() + kResolveLimit;
  lock.unlock();
  int error;
  do {
    {
      const std::lock_guard port_guard(port_lock_);
      error = port_.resolve(destination, kResolveSlice, mac);
    }
    if (inline_mode && error == -ETIMEDOUT) caller_.turn_all();
  } while (error == -ETIMEDOUT && caller_.now() < deadline);
  lock.lock();
  return error;
}

int Device::resolve(const Gid& destination, Lock& lock, MacAddress& mac) {
  if (info_.ownership == PortOwnership::kShared) return resolve_shared(destination, lock, mac);
  auto command = std::make_shared<engine::ResolveCommand>();
  command->destination = destination;
  const int error = caller_.call(0, command, lock, kResolveLimit + kResolveSlack, true);
  if (error == 0) mac = command->mac;
  return error;
}

// The error code alone would not say which address, and that it may be the wrong GID index. The log
// may be the application's, so it is written without the lock.
void Device::tell_unreachable(const Unreachable& note, Lock& lock) {
  if (note.error != -ETIMEDOUT && note.error != -EHOSTUNREACH) return;
  const Time now = caller_.now();
  lock.unlock();
  FailureLog::instance().write(now, note);
  lock.lock();
}

// Checks, finds the MAC address and makes the vector. May give the lock up for seconds. On success
// attributes.dmac is what was found and the GID entry is held.
int Device::build_path(AhAttributes& attributes, bool ask_always, Lock& lock,
                       transport::AddressVector& vector) {
  PathEnds ends;
  if (const int error = check_path(attributes, gids_, ends.sgid); error != 0) return error;
  ends.source = info_.mac;
  ends.vlan_id = info_.vlan_id;
  ends.own_address = gids_.find(attributes.dgid).has_value();
  const uint32_t index = attributes.sgid_index;
  gids_.hold(index);
  if (!ask_always && !attributes.dmac.is_zero()) {
    ends.destination = attributes.dmac;
  } else if (const auto known = known_mac(attributes.dgid, gids_, info_.mac)) {
    ends.destination = *known;
  } else if (const int error = resolve(attributes.dgid, lock, ends.destination); error != 0) {
    gids_.release(index);
    tell_unreachable({info_.name, attributes.dgid, ends.sgid, index, error}, lock);
    return error;
  }
  attributes.dmac = ends.destination;
  vector = make_address_vector(attributes, ends);
  return 0;
}

int Device::create_ah(Pd& pd, const AhAttributes& attributes, bool ask_always, Ah*& ah) {
  Lock lock(lock_);
  if (closing_) return -ENODEV;
  if (ahs_.size() >= limits_.ah_max) return -ENOMEM;
  auto made = std::make_unique<Ah>();
  Ah* const created = made.get();
  created->pd = &pd;
  created->attributes = attributes;
  // Counted before the wait, so that the domain stays.
  ++pd.use_count;
  ahs_.emplace(created, std::move(made));
  transport::AddressVector vector;
  if (const int error = build_path(created->attributes, ask_always, lock, vector); error != 0) {
    --pd.use_count;
    ahs_.erase(created);
    return error;
  }
  created->vector.store(vector);
  ah = created;
  return 0;
}

int Device::modify_ah(Ah& ah, const AhAttributes& attributes) {
  Lock lock(lock_);
  AhAttributes wanted = attributes;
  transport::AddressVector vector;
  if (const int error = build_path(wanted, false, lock, vector); error != 0) return error;
  gids_.release(ah.attributes.sgid_index);
  ah.attributes = wanted;
  ah.vector.store(vector);
  return 0;
}

AhAttributes Device::query_ah(Ah& ah) {
  const std::lock_guard guard(lock_);
  return ah.attributes;
}

int Device::destroy_ah(Ah& ah) {
  const std::lock_guard guard(lock_);
  gids_.release(ah.attributes.sgid_index);
  --ah.pd->use_count;
  ahs_.erase(&ah);
  return 0;
}

}  // namespace uroce::device
