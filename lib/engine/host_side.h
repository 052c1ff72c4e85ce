// SPDX-License-Identifier: BSD-3-Clause
// The control protocols of an own port as one part of the engine: ARP, ND, echo, IGMP and MLD.
//
// Exists in engine 0 of an own port only; on a shared port the kernel does all this.
#ifndef UROCE_ENGINE_HOST_SIDE_H
#define UROCE_ENGINE_HOST_SIDE_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/source_filter.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "group/igmp_host.h"
#include "group/mld_host.h"
#include "neigh/host_stack.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::engine {

class HostSide {
 public:
  // Allocates everything.
  HostSide(const EngineConfig& config, transport::DropCounters& drops);

  // False, and nothing changed, when the stack cannot take them (neigh/next_hop.h). New addresses
  // are announced, and the solicited-node groups of IPv6 ones joined: those of addresses that have
  // gone are left. Who has no address is about to go: leaves are repeated soon.
  bool set_addresses(Time now, const SetAddressesCommand& command);
  void link_up(Time now);

  // What the queue pairs listen to in a group. False: no room for the group or its sources.
  bool set_filter(Time now, const Gid& group, const SourceFilter& filter);

  // 0 and the MAC address of the next hop, a negative errno, or nothing yet: ask again after the
  // next frame or timeout.
  std::optional<int> resolve(Time now, const Gid& destination, MacAddress& mac);

  // A frame of any kind but RoCE and other. Refusals are counted.
  void receive(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
               const wire::ParseOptions& options);
  void handle_timeout(Time now);
  // Fills the slot with the next frame; false: nothing is due.
  bool poll_frame(Time now, TxSlot& slot);
  // When handle_timeout or poll_frame has something to do: known beforehand, since every turn of
  // the loop asks.
  Time poll_timeout() const { return due_; }

  // Groups whose leave is still to be reported, or reported again. Any thread.
  uint32_t groups_leaving() const { return igmp_.leaving_count() + mld_.leaving_count(); }

  // For display.
  const neigh::HostStack& stack() const { return stack_; }
  const group::HostCounters& igmp_counters() const { return igmp_.counters(); }
  const group::HostCounters& mld_counters() const { return mld_.counters(); }

 private:
  // A solicited-node group of our addresses. Queue pairs may be in it as well.
  struct AddressGroup {
    Gid group;
    bool has_members = false;
  };
  static constexpr size_t kAddressesMax = neigh::NextHop::kAddressesMax;

  // Finds out at the end of a call that may have changed it when something is due next.
  class DueUpdate;
  Time next_due() const;

  AddressGroup* address_group(const Gid& group);
  void follow_addresses(Time now, std::span<const LocalAddress> addresses);

  transport::DropCounters& drops_;
  neigh::HostStack stack_;
  group::IgmpHost igmp_;
  group::MldHost mld_;
  std::array<AddressGroup, kAddressesMax> address_groups_{};
  size_t address_group_count_ = 0;
  Time due_ = kNever;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_HOST_SIDE_H
