// SPDX-License-Identifier: BSD-3-Clause
// Two devices of one process joined by memory rings: no NIC, no huge pages, no root.
#ifndef UROCE_APP_COMMON_RING_PAIR_H
#define UROCE_APP_COMMON_RING_PAIR_H

#include <uroce/uroce.h>

#include <functional>
#include <vector>

namespace uroce::app {

// The CPUs that the calling thread may use, at least one; EAL changes that for its threads.
std::vector<int> allowed_cpus();

struct RingPairOptions {
  const char* program;  // its name in messages
  const char* memory_mib = "256";
  const char* ring_pairs = "1";  // the devices have the first, net_ring_u0 and u1
  bool worker = false;           // lcore 1 polls; else the caller does
};

// Starts uroce0 with 10.0.0.1/24 and uroce1 with 10.0.0.2/24. nullptr: refused, and said on stderr.
uroce_context* start_ring_pair(const RingPairOptions& options);
// Stops it. False: it failed, and said so.
bool stop_ring_pair(const RingPairOptions& options, uroce_context* context);

// A program on a pair: starts it, runs `body` and stops it. Returns the exit status: that of
// `body`, or 1 when anything failed or threw, which is said.
int run_on_ring_pair(const RingPairOptions& options,
                     const std::function<int(uroce_context* context)>& body);

}  // namespace uroce::app

#endif  // UROCE_APP_COMMON_RING_PAIR_H
