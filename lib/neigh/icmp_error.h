// SPDX-License-Identifier: BSD-3-Clause
// ICMP errors about our flows: counted, so that an operator sees them, and believed never. Anybody
// can send one: it changes no path MTU and ends no connection.
#ifndef UROCE_NEIGH_ICMP_ERROR_H
#define UROCE_NEIGH_ICMP_ERROR_H

#include "neigh/counters.h"
#include "neigh/next_hop.h"
#include "wire/icmp.h"

namespace uroce::neigh {

// True when the packet that an error quotes is RoCE from an address of ours.
bool is_about_our_flow(const wire::IcmpMessage& error, const NextHop& hops);

// Counts an error about a flow of ours; any other is none of our business (kNotForUs).
wire::Drop count_icmp_error(const wire::IcmpMessage& error, const NextHop& hops,
                            HostStackCounters& counters);

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_ICMP_ERROR_H
