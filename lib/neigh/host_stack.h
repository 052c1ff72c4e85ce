// SPDX-License-Identifier: BSD-3-Clause
// What a host does beside RoCE on a port of its own: answers ARP, neighbour solicitations and ping
// for its addresses, finds the MAC address of a next hop, announces itself. On a shared port the
// kernel does all this and no stack exists.
//
// Call order, by one owner: set_addresses, handle_frame, resolve, announce, link_up and
// handle_timeout may change what poll_frame gives; handle_timeout when poll_timeout has passed;
// poll_frame until it is false. After a handle_timeout or handle_frame a resolve that was pending
// may be repeated. Nothing is allocated after construction.
#ifndef UROCE_NEIGH_HOST_STACK_H
#define UROCE_NEIGH_HOST_STACK_H

#include <cstdint>
#include <span>

#include "neigh/arp.h"
#include "neigh/counters.h"
#include "neigh/echo.h"
#include "neigh/nd.h"
#include "neigh/neighbor_table.h"
#include "neigh/next_hop.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::neigh {

struct HostStackConfig {
  MacAddress mac;
  uint16_t vlan_id = 0;  // 0: untagged
  uint32_t neighbors_max = 1024;
  uint64_t seed = 0;  // of the hash key: random in the product
};

class HostStack {
 public:
  explicit HostStack(const HostStackConfig& config);
  HostStack(const HostStack&) = delete;
  HostStack& operator=(const HostStack&) = delete;

  // As NextHop::set(). Nothing is announced: see announce().
  bool set_addresses(std::span<const OwnAddress> addresses, const Gid& gateway_ipv4,
                     const Gid& gateway_ipv6);

  // A frame that classify() found to be kArp, kNd, kIcmp or kIcmpv6. A frame that is refused is
  // for the caller to count; kNone: it was taken, or is of no interest (router discovery, echo
  // replies).
  wire::Drop handle_frame(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                          const wire::ParseOptions& options);

  // The MAC address of the next hop to a destination. Own addresses (our MAC) and groups are known
  // at once, without a frame. kPending: asked for; try again later. kFailed after 3 s without an
  // answer, for one second; then the next call asks afresh.
  Resolution resolve(Time now, const Gid& destination, MacAddress& mac);

  // Gratuitous ARP and unsolicited advertisement, one for each of our addresses.
  void announce(Time now);
  // Announces, and asks again for whom it waits.
  void link_up(Time now);

  void handle_timeout(Time now) { neighbors_.handle_timeout(now); }

  // Fills the slot with the next frame; false: nothing to be sent. A slot must hold at least 128
  // bytes; an echo reply that does not fit is given up.
  bool poll_frame(Time now, TxSlot& slot);
  // When handle_timeout or poll_frame has something next, or kNever.
  Time poll_timeout() const;

  const NextHop& hops() const { return hops_; }
  const NeighborTable& neighbors() const { return neighbors_; }
  const HostStackCounters& counters() const { return counters_; }

 private:
  wire::Drop handle_icmp(Time now, std::span<const uint8_t> frame, const wire::L3Info& info,
                         const wire::ParseOptions& options);
  uint32_t next_reply(std::span<uint8_t> room);
  uint32_t next_announcement(std::span<uint8_t> room);
  bool has_output() const;

  MacAddress mac_;
  HostStackCounters counters_;
  NextHop hops_;
  NeighborTable neighbors_;
  Arp arp_;
  Nd nd_;
  Echo echo_;
  size_t announce_at_ = NextHop::kAddressesMax;  // next own address to be announced
  Time output_since_ = kNever;                   // replies or announcements wait
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_HOST_STACK_H
