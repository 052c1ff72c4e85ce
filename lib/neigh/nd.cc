// SPDX-License-Identifier: BSD-3-Clause
// Neighbour discovery: answering, learning, asking, announcing.
#include "neigh/nd.h"

namespace uroce::neigh {
namespace {

using wire::Drop;
using wire::NdKind;
using wire::NdMessage;

constexpr Gid kAllNodes{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace

Gid link_local_of(const MacAddress& mac) {
  const auto& m = mac.bytes;
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<uint8_t>(m[0] ^ 2), m[1], m[2], 0xff, 0xfe,
           m[3], m[4], m[5]}};
}

Drop Nd::handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                      const wire::ParseOptions& options) {
  NdMessage message;
  const Drop drop = wire::parse_nd(frame, info, options, message);
  if (drop != Drop::kNone) return drop;
  if (message.kind == NdKind::kRouter) return Drop::kNone;
  if (message.kind == NdKind::kSolicitation) {
    return handle_solicitation(now, message, wire::load_mac(frame.data() + wire::kMacBytes));
  }
  if (hops_.is_own(message.target)) {
    ++counters_.address_conflicts;
  } else if (message.has_link_address) {
    neighbors_.handle_news(
        now, {message.target, message.link_address, message.solicited, message.override_entry});
  }
  return Drop::kNone;
}

Drop Nd::handle_solicitation(Time now, const NdMessage& message, const MacAddress& from) {
  if (hops_.is_own(message.source)) {
    ++counters_.address_conflicts;
    return Drop::kNone;
  }
  if (message.has_link_address) {
    neighbors_.handle_news(now, {message.source, message.link_address, false, true});
  }
  if (!hops_.is_own(message.target)) return Drop::kNotForUs;
  Reply* queued = replies_.push();
  if (queued == nullptr) {
    ++counters_.replies_dropped;
    return Drop::kNone;
  }
  *queued = {message.has_link_address ? message.link_address : from, message.source,
             message.target};
  return Drop::kNone;
}

uint32_t Nd::build_reply(std::span<uint8_t> room) {
  const Reply reply = replies_.front();
  replies_.pop();
  ++counters_.nd_answered;
  return build_advertisement(room, reply);
}

uint32_t Nd::build_announcement(std::span<uint8_t> room, const Gid& own) const {
  return build_advertisement(room, {MacAddress{}, Gid{}, own});
}

uint32_t Nd::build_advertisement(std::span<uint8_t> room, const Reply& reply) const {
  NdMessage message;
  message.kind = NdKind::kAdvertisement;
  message.source = reply.own;
  message.target = reply.own;
  message.solicited = !reply.to.is_zero();
  message.destination = message.solicited ? reply.to : kAllNodes;
  message.override_entry = true;
  message.has_link_address = true;
  message.link_address = link_.mac;
  const MacAddress mac = message.solicited ? reply.mac : wire::multicast_mac(kAllNodes);
  return wire::build_nd(room, link_.to(mac), message);
}

uint32_t Nd::build_solicitation(std::span<uint8_t> room, const Solicitation& asked) const {
  NdMessage message;
  message.kind = NdKind::kSolicitation;
  message.source = hops_.source_for(asked.target);
  message.target = asked.target;
  message.destination = asked.unicast ? asked.target : wire::solicited_node(asked.target);
  message.has_link_address = true;
  message.link_address = link_.mac;
  const MacAddress mac = asked.unicast ? asked.mac : wire::multicast_mac(message.destination);
  return wire::build_nd(room, link_.to(mac), message);
}

}  // namespace uroce::neigh
