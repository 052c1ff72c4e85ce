// SPDX-License-Identifier: BSD-3-Clause
// What the host stack counts.
#ifndef UROCE_NEIGH_COUNTERS_H
#define UROCE_NEIGH_COUNTERS_H

#include "base/counter.h"

namespace uroce::neigh {

struct HostStackCounters {
  Counter arp_answered;            // requests for an address of ours
  Counter nd_answered;             // solicitations likewise
  Counter echo_answered;           // ICMP and ICMPv6
  Counter echo_refused;            // too large, too many, or from no unicast address
  Counter replies_dropped;         // ARP and ND: more requests than the queue holds
  Counter solicitations_sent;      // ARP requests and neighbour solicitations of ours
  Counter announcements_sent;      // gratuitous ARP and unsolicited advertisements
  Counter address_conflicts;       // another host claims an address of ours
  Counter icmp_packet_too_big;     // about our flows: ICMPv6, and ICMP "fragmentation needed"
  Counter icmp_port_unreachable;   // about our flows
  Counter icmp_other_unreachable;  // about our flows: every other error
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_COUNTERS_H
