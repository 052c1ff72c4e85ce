// SPDX-License-Identifier: BSD-3-Clause
// IPv6 neighbour discovery for our addresses (RFC 4861): answers solicitations, learns from
// advertisements, asks and announces. Routers are not discovered: the gateway is configured.
#ifndef UROCE_NEIGH_ND_H
#define UROCE_NEIGH_ND_H

#include <cstdint>
#include <span>

#include "neigh/counters.h"
#include "neigh/neighbor_table.h"
#include "neigh/next_hop.h"
#include "neigh/reply_queue.h"
#include "wire/ethernet.h"
#include "wire/membership.h"
#include "wire/nd.h"
#include "wire/parse.h"

namespace uroce::neigh {

// The link-local address that follows from a MAC address (modified EUI-64, RFC 4291).
Gid link_local_of(const MacAddress& mac);

class Nd {
 public:
  // What is passed by reference outlives this.
  Nd(const wire::LinkSource& link, const NextHop& hops, NeighborTable& neighbors,
     HostStackCounters& counters)
      : link_(link), hops_(hops), neighbors_(neighbors), counters_(counters) {}

  // A frame that classify() found to be kNd. kNotForUs: a solicitation for an address of others.
  wire::Drop handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                          const wire::ParseOptions& options);

  bool has_reply() const { return !replies_.empty(); }

  // Each writes a whole frame and returns its length; the room is at least
  // wire::kNdFrameBytesMax bytes.
  uint32_t build_reply(std::span<uint8_t> room);  // takes it off the queue
  uint32_t build_solicitation(std::span<uint8_t> room, const Solicitation& solicitation) const;
  uint32_t build_announcement(std::span<uint8_t> room, const Gid& own) const;

 private:
  struct Reply {
    MacAddress mac;
    Gid to;  // zero: the asker has no address yet, all nodes get the answer
    Gid own;
  };

  wire::Drop handle_solicitation(Time now, const wire::NdMessage& message, const MacAddress& from);
  uint32_t build_advertisement(std::span<uint8_t> room, const Reply& reply) const;

  wire::LinkSource link_;
  const NextHop& hops_;
  NeighborTable& neighbors_;
  HostStackCounters& counters_;
  ReplyQueue<Reply, 32> replies_;
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_ND_H
