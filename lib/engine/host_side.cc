// SPDX-License-Identifier: BSD-3-Clause
// Which of the control protocols a frame, a group or a timeout belongs to.
#include "engine/host_side.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/random.h"
#include "wire/nd.h"

namespace uroce::engine {
namespace {

using wire::Drop;
using wire::FrameKind;

// What the largest control frame needs.
constexpr uint32_t kSlotBytesMin = 256;

// Each part has a seed of its own, so that their delays are independent.
uint64_t seed_of(const EngineConfig& config, uint64_t part) {
  return Random(config.seed ^ (part << 56)).next64();
}

neigh::HostStackConfig stack_config(const EngineConfig& config) {
  return {.mac = config.mac,
          .vlan_id = config.vlan_id,
          .neighbors_max = config.neighbors_max,
          .seed = seed_of(config, 1)};
}

group::HostConfig group_config(const EngineConfig& config, uint8_t version, uint64_t part) {
  return {.mac = config.mac,
          .address = {},
          .vlan_id = config.vlan_id,
          .mtu_bytes = config.port_mtu_bytes,
          // Those of queue pairs, and one for each IPv6 address.
          .groups_max = config.groups_max + uint32_t{neigh::NextHop::kAddressesMax},
          .sources_max = config.sources_max,
          .version_max = version,
          .seed = seed_of(config, part)};
}

}  // namespace

class HostSide::DueUpdate {
 public:
  explicit DueUpdate(HostSide& host) : host_(host) {}
  DueUpdate(const DueUpdate&) = delete;
  DueUpdate& operator=(const DueUpdate&) = delete;
  ~DueUpdate() { host_.due_ = host_.next_due(); }

 private:
  HostSide& host_;
};

HostSide::HostSide(const EngineConfig& config, transport::DropCounters& drops)
    : drops_(drops),
      stack_(stack_config(config)),
      igmp_(group_config(config, config.igmp_version, 2)),
      mld_(group_config(config, config.mld_version, 3)) {}

bool HostSide::set_addresses(Time now, const SetAddressesCommand& command) {
  const DueUpdate update(*this);
  std::array<neigh::OwnAddress, kAddressesMax> own;
  if (command.addresses.size() > own.size()) return false;
  Gid ipv4;
  Gid link_local;
  for (size_t i = 0; i < command.addresses.size(); ++i) {
    const LocalAddress& local = command.addresses[i];
    own[i] = {local.address, local.prefix_length};
    if (ipv4.is_zero() && local.address.is_ipv4()) ipv4 = local.address;
    if (link_local.is_zero() && local.address.is_link_local()) link_local = local.address;
  }
  if (!stack_.set_addresses({own.data(), command.addresses.size()}, command.gateway_ipv4,
                            command.gateway_ipv6)) {
    return false;
  }
  // Who gives up all addresses still leaves its groups, and does so from the old ones.
  if (!command.addresses.empty()) {
    igmp_.set_address(ipv4);
    mld_.set_address(link_local);
  }
  follow_addresses(now, command.addresses);
  igmp_.hurry_leaves(now, command.addresses.empty());
  mld_.hurry_leaves(now, command.addresses.empty());
  stack_.announce(now);
  return true;
}

// Neighbours ask for an address at its solicited-node group, and a switch that snoops brings us
// their questions only if the group is reported (RFC 4861 7.2.1, RFC 3810 6).
void HostSide::follow_addresses(Time now, std::span<const LocalAddress> addresses) {
  std::array<AddressGroup, kAddressesMax> next{};
  size_t count = 0;
  for (const LocalAddress& local : addresses) {
    if (local.address.is_ipv4()) continue;
    const Gid group = wire::solicited_node(local.address);
    const auto end = next.begin() + static_cast<ptrdiff_t>(count);
    if (std::any_of(next.begin(), end, [&](const auto& own) { return own.group == group; })) {
      continue;
    }
    const AddressGroup* before = address_group(group);
    next[count++] = {group, before != nullptr ? before->has_members : mld_.is_joined(group)};
  }
  // Those that stay are joined already, which changes nothing.
  for (size_t i = 0; i < count; ++i) mld_.join(now, next[i].group);
  const auto old = address_groups_;
  const size_t old_count = std::exchange(address_group_count_, count);
  address_groups_ = next;
  for (size_t i = 0; i < old_count; ++i) {
    if (address_group(old[i].group) == nullptr && !old[i].has_members) {
      mld_.leave(now, old[i].group);
    }
  }
}

HostSide::AddressGroup* HostSide::address_group(const Gid& group) {
  for (size_t i = 0; i < address_group_count_; ++i) {
    if (address_groups_[i].group == group) return &address_groups_[i];
  }
  return nullptr;
}

void HostSide::link_up(Time now) {
  const DueUpdate update(*this);
  stack_.link_up(now);
  igmp_.link_up(now);
  mld_.link_up(now);
}

// A group of our addresses is wanted from every source, whatever queue pairs want of it.
bool HostSide::set_filter(Time now, const Gid& group, const SourceFilter& filter) {
  const DueUpdate update(*this);
  if (AddressGroup* own = address_group(group)) {
    own->has_members = !filter.is_nothing();
    return true;
  }
  return group.is_ipv4() ? igmp_.set_filter(now, group, filter)
                         : mld_.set_filter(now, group, filter);
}

std::optional<int> HostSide::resolve(Time now, const Gid& destination, MacAddress& mac) {
  const DueUpdate update(*this);
  switch (stack_.resolve(now, destination, mac)) {
    case neigh::Resolution::kResolved:
      return 0;
    case neigh::Resolution::kPending:
      return std::nullopt;
    case neigh::Resolution::kFailed:
      return -ETIMEDOUT;
    case neigh::Resolution::kNoRoute:
      return -EHOSTUNREACH;
  }
  return -EINVAL;
}

void HostSide::receive(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                       const wire::ParseOptions& options) {
  const DueUpdate update(*this);
  Drop drop = Drop::kNone;
  switch (info.kind) {
    case FrameKind::kIgmp:
      drop = igmp_.handle_frame(now, frame, info, options);
      break;
    case FrameKind::kMld:
      drop = mld_.handle_frame(now, frame, info, options);
      break;
    default:
      drop = stack_.handle_frame(now, frame, info, options);
  }
  if (drop != Drop::kNone) drops_.count(drop);
}

void HostSide::handle_timeout(Time now) {
  if (due_ > now) return;
  const DueUpdate update(*this);
  stack_.handle_timeout(now);
}

bool HostSide::poll_frame(Time now, TxSlot& slot) {
  if (due_ > now || slot.capacity < kSlotBytesMin) return false;
  const DueUpdate update(*this);
  return stack_.poll_frame(now, slot) || igmp_.poll_frame(now, slot) || mld_.poll_frame(now, slot);
}

Time HostSide::next_due() const {
  return std::min({stack_.poll_timeout(), igmp_.poll_timeout(), mld_.poll_timeout()});
}

}  // namespace uroce::engine
