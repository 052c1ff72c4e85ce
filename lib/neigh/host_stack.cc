// SPDX-License-Identifier: BSD-3-Clause
// The face of the room: frames to their parts, and the order of what is sent.
#include "neigh/host_stack.h"

#include <algorithm>

#include "base/assert.h"
#include "neigh/icmp_error.h"

namespace uroce::neigh {
namespace {

using wire::Drop;
using wire::FrameKind;
using wire::IcmpKind;

// ICMPv6 errors have the high bit of the type clear; the ICMP ones are these.
bool is_error(const wire::IcmpMessage& message) {
  if (message.ipv6) return message.type < 128;
  return message.type == 3 || message.type == 4 || message.type == 5 || message.type == 11 ||
         message.type == 12;
}

wire::LinkSource link_of(const HostStackConfig& config) {
  return {config.mac, config.vlan_id != 0, config.vlan_id};
}

}  // namespace

HostStack::HostStack(const HostStackConfig& config)
    : mac_(config.mac),
      neighbors_(config.neighbors_max, config.seed),
      arp_(link_of(config), hops_, neighbors_, counters_),
      nd_(link_of(config), hops_, neighbors_, counters_),
      echo_(link_of(config), hops_, counters_) {}

bool HostStack::set_addresses(std::span<const OwnAddress> addresses, const Gid& gateway_ipv4,
                              const Gid& gateway_ipv6) {
  // An announcement that is over stays over, however many addresses there will be.
  if (announce_at_ >= hops_.addresses().size()) announce_at_ = NextHop::kAddressesMax;
  return hops_.set(addresses, gateway_ipv4, gateway_ipv6);
}

Drop HostStack::handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                             const wire::ParseOptions& options) {
  UROCE_ASSERT(frame.size() >= wire::kEthernetBytes);
  if (wire::load_mac(frame.data() + wire::kMacBytes) == mac_) return Drop::kOwnSourceMac;
  Drop drop = Drop::kIpProtocol;
  if (info.kind == FrameKind::kArp) {
    drop = arp_.handle_frame(now, frame, info);
  } else if (info.kind == FrameKind::kNd) {
    drop = nd_.handle_frame(now, frame, info, options);
  } else if (info.kind == FrameKind::kIcmp || info.kind == FrameKind::kIcmpv6) {
    drop = handle_icmp(now, frame, info, options);
  }
  if (has_output()) output_since_ = std::min(output_since_, now);
  return drop;
}

Drop HostStack::handle_icmp(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                            const wire::ParseOptions& options) {
  wire::IcmpMessage message;
  const Drop drop = wire::parse_icmp(frame, info, options, message);
  if (drop != Drop::kNone) return drop;
  if (message.kind == IcmpKind::kEchoRequest) return echo_.handle_request(now, message);
  if (!is_error(message)) return Drop::kNone;
  if (!hops_.is_own(message.destination)) return Drop::kNotForUs;
  return count_icmp_error(message, hops_, counters_);
}

Resolution HostStack::resolve(Time now, const Gid& destination, MacAddress& mac) {
  Gid next_hop;
  switch (hops_.route(destination, next_hop)) {
    case HopKind::kOwn:
      mac = mac_;
      return Resolution::kResolved;
    case HopKind::kMulticast:
      mac = wire::multicast_mac(destination);
      return Resolution::kResolved;
    case HopKind::kOnLink:
    case HopKind::kGateway:
      return neighbors_.resolve(now, next_hop, mac);
    case HopKind::kNoRoute:
      break;
  }
  return Resolution::kNoRoute;
}

void HostStack::announce(Time now) {
  announce_at_ = 0;
  if (has_output()) output_since_ = std::min(output_since_, now);
}

void HostStack::link_up(Time now) {
  announce(now);
  neighbors_.link_up(now);
}

bool HostStack::poll_frame(Time now, TxSlot& slot) {
  UROCE_ASSERT(slot.capacity >= 128);
  const std::span<uint8_t> room{slot.room, slot.capacity};
  uint32_t length = next_reply(room);
  if (length == 0) length = next_announcement(room);
  if (!has_output()) output_since_ = kNever;
  Solicitation asked;
  neighbors_.handle_timeout(now);
  // A target whose family lost its last address meanwhile cannot be asked: it fails in time.
  while (length == 0 && neighbors_.poll_solicitation(asked)) {
    if (hops_.source_for(asked.target).is_zero()) continue;
    length = asked.target.is_ipv4() ? arp_.build_solicitation(room, asked)
                                    : nd_.build_solicitation(room, asked);
    ++counters_.solicitations_sent;
  }
  if (length == 0) return false;
  slot.length = length;
  slot.route = Route::kWire;
  return true;
}

Time HostStack::poll_timeout() const { return std::min(output_since_, neighbors_.poll_timeout()); }

// The next answer that waits, or 0.
uint32_t HostStack::next_reply(std::span<uint8_t> room) {
  if (arp_.has_reply()) return arp_.build_reply(room);
  if (nd_.has_reply()) return nd_.build_reply(room);
  uint32_t length = 0;
  while (length == 0 && echo_.has_reply()) length = echo_.build_reply(room);
  return length;
}

uint32_t HostStack::next_announcement(std::span<uint8_t> room) {
  const auto own = hops_.addresses();
  if (announce_at_ >= own.size()) return 0;
  const Gid& address = own[announce_at_++].address;
  ++counters_.announcements_sent;
  return address.is_ipv4() ? arp_.build_announcement(room, address)
                           : nd_.build_announcement(room, address);
}

bool HostStack::has_output() const {
  return arp_.has_reply() || nd_.has_reply() || echo_.has_reply() ||
         announce_at_ < hops_.addresses().size();
}

}  // namespace uroce::neigh
