// SPDX-License-Identifier: BSD-3-Clause
// ARP: answering, learning, asking, announcing.
#include "neigh/arp.h"

#include "wire/arp.h"

namespace uroce::neigh {

using wire::ArpMessage;
using wire::Drop;

Drop Arp::handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info) {
  ArpMessage message;
  if (const Drop drop = wire::parse_arp(frame, info, message); drop != Drop::kNone) return drop;
  const Gid sender = Gid::from_ipv4(message.sender_ip);
  const Gid target = Gid::from_ipv4(message.target_ip);
  if (hops_.is_own(sender)) {
    // Not answered and not believed: two hosts that defend one address would never end.
    ++counters_.address_conflicts;
    return Drop::kNone;
  }
  const bool for_us = hops_.is_own(target);
  const bool reply = message.operation == ArpMessage::kReply;
  neighbors_.handle_news(now, {sender, message.sender_mac, reply && for_us, true});
  if (!for_us) return Drop::kNotForUs;
  if (reply) return Drop::kNone;
  Reply* queued = replies_.push();
  if (queued == nullptr) {
    ++counters_.replies_dropped;
    return Drop::kNone;
  }
  *queued = {message.sender_mac, message.sender_ip, message.target_ip};
  return Drop::kNone;
}

uint32_t Arp::build_reply(std::span<uint8_t> room) {
  const Reply reply = replies_.front();
  replies_.pop();
  ++counters_.arp_answered;
  return wire::build_arp(room, link_.to(reply.mac),
                         {ArpMessage::kReply, link_.mac, reply.own_ip, reply.mac, reply.ip});
}

uint32_t Arp::build_solicitation(std::span<uint8_t> room, const Solicitation& asked) const {
  const Gid source = hops_.source_for(asked.target);
  const MacAddress& mac = asked.unicast ? asked.mac : wire::kBroadcastMac;
  return wire::build_arp(
      room, link_.to(mac),
      {ArpMessage::kRequest, link_.mac, source.ipv4(), MacAddress{}, asked.target.ipv4()});
}

uint32_t Arp::build_announcement(std::span<uint8_t> room, const Gid& own) const {
  return wire::build_arp(room, link_.to(wire::kBroadcastMac),
                         {ArpMessage::kRequest, link_.mac, own.ipv4(), MacAddress{}, own.ipv4()});
}

}  // namespace uroce::neigh
