// SPDX-License-Identifier: BSD-3-Clause
// Echo requests in, echo replies out.
#include "neigh/echo.h"

#include <algorithm>
#include <cstring>

namespace uroce::neigh {

using wire::Drop;
using wire::IcmpKind;
using wire::IcmpMessage;

Drop Echo::handle_request(Time now, const IcmpMessage& request) {
  // Pings of a group or broadcast address are not answered: they would draw storms.
  if (!hops_.is_own(request.destination)) return Drop::kNotForUs;
  const bool answerable = request.data.size() <= kDataBytesMax && !request.source.is_multicast() &&
                          !request.source.is_zero() && request.source != Gid::from_ipv4(0) &&
                          !hops_.is_own(request.source) && !request.source_mac.is_multicast();
  Reply* reply = answerable && take_token(now) ? replies_.push() : nullptr;
  if (reply == nullptr) {
    ++counters_.echo_refused;
    return Drop::kNone;
  }
  reply->mac = request.source_mac;
  reply->source = request.destination;
  reply->destination = request.source;
  reply->id = request.echo_id;
  reply->sequence = request.echo_sequence;
  reply->length = static_cast<uint32_t>(request.data.size());
  if (reply->length != 0) std::memcpy(reply->data.data(), request.data.data(), reply->length);
  return Drop::kNone;
}

uint32_t Echo::build_reply(std::span<uint8_t> room) {
  const Reply& reply = replies_.front();
  IcmpMessage message;
  message.kind = IcmpKind::kEchoReply;
  message.echo_id = reply.id;
  message.echo_sequence = reply.sequence;
  message.data = {reply.data.data(), reply.length};
  wire::IpFields ip;
  ip.source = reply.source;
  ip.destination = reply.destination;
  const uint32_t length = wire::build_icmp(room, link_.to(reply.mac), ip, message);
  ++(length != 0 ? counters_.echo_answered : counters_.echo_refused);
  replies_.pop();
  return length;
}

bool Echo::take_token(Time now) {
  constexpr Duration kInterval = Duration(std::chrono::seconds(1)) / kPerSecond;
  static_assert(kInterval.count() > 0);
  const auto intervals = std::max<int64_t>(0, (now - filled_) / kInterval);
  tokens_ = static_cast<uint32_t>(std::min<int64_t>(kBurst, tokens_ + intervals));
  filled_ += intervals * kInterval;
  if (tokens_ == 0) return false;
  --tokens_;
  return true;
}

}  // namespace uroce::neigh
