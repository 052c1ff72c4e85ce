// SPDX-License-Identifier: BSD-3-Clause
// ARP for our IPv4 addresses (RFC 826, RFC 5227): answers requests, learns from what it hears,
// asks and announces.
#ifndef UROCE_NEIGH_ARP_H
#define UROCE_NEIGH_ARP_H

#include <cstdint>
#include <span>

#include "neigh/counters.h"
#include "neigh/neighbor_table.h"
#include "neigh/next_hop.h"
#include "neigh/reply_queue.h"
#include "wire/ethernet.h"
#include "wire/membership.h"
#include "wire/parse.h"

namespace uroce::neigh {

class Arp {
 public:
  // What is passed by reference outlives this.
  Arp(const wire::LinkSource& link, const NextHop& hops, NeighborTable& neighbors,
      HostStackCounters& counters)
      : link_(link), hops_(hops), neighbors_(neighbors), counters_(counters) {}

  // A frame that classify() found to be kArp. kNotForUs: a request for an address of others (what
  // it says of a known neighbour is heard all the same).
  wire::Drop handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info);

  bool has_reply() const { return !replies_.empty(); }

  // Each writes a whole frame and returns its length; the room is at least 64 bytes.
  uint32_t build_reply(std::span<uint8_t> room);  // takes it off the queue
  uint32_t build_solicitation(std::span<uint8_t> room, const Solicitation& solicitation) const;
  uint32_t build_announcement(std::span<uint8_t> room, const Gid& own) const;

 private:
  struct Reply {
    MacAddress mac;
    uint32_t ip = 0;
    uint32_t own_ip = 0;
  };

  wire::LinkSource link_;
  const NextHop& hops_;
  NeighborTable& neighbors_;
  HostStackCounters& counters_;
  ReplyQueue<Reply, 32> replies_;
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_ARP_H
