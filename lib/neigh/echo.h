// SPDX-License-Identifier: BSD-3-Clause
// Answers to ping, ICMP and ICMPv6: bounded in size, in number waiting, and in rate, because an
// engine has better things to do. The rate is a token bucket: kBurst at once, kPerSecond for long.
#ifndef UROCE_NEIGH_ECHO_H
#define UROCE_NEIGH_ECHO_H

#include <array>
#include <cstdint>
#include <span>

#include "neigh/counters.h"
#include "neigh/next_hop.h"
#include "neigh/reply_queue.h"
#include "wire/icmp.h"
#include "wire/membership.h"

namespace uroce::neigh {

class Echo {
 public:
  static constexpr uint32_t kDataBytesMax = 1472;  // fills a 1500-byte IPv4 packet
  static constexpr uint32_t kBurst = 16;
  static constexpr uint32_t kPerSecond = 1000;

  // What is passed by reference outlives this.
  Echo(const wire::LinkSource& link, const NextHop& hops, HostStackCounters& counters)
      : link_(link), hops_(hops), counters_(counters) {}

  // An echo request as parse_icmp() gave it. kNotForUs: not to an address of ours.
  wire::Drop handle_request(Time now, const wire::IcmpMessage& request);

  bool has_reply() const { return !replies_.empty(); }

  // Takes a reply off the queue and writes the frame. Returns its length, or 0 (counted as
  // refused) when it does not fit into the room.
  uint32_t build_reply(std::span<uint8_t> room);

 private:
  struct Reply {
    MacAddress mac;
    Gid source;
    Gid destination;
    uint16_t id = 0;
    uint16_t sequence = 0;
    uint32_t length = 0;
    std::array<uint8_t, kDataBytesMax> data;
  };

  bool take_token(Time now);

  wire::LinkSource link_;
  const NextHop& hops_;
  HostStackCounters& counters_;
  uint32_t tokens_ = kBurst;
  Time filled_{};
  ReplyQueue<Reply, 8> replies_;
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_ECHO_H
