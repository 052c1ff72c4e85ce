// SPDX-License-Identifier: BSD-3-Clause
// Reads the counters of the wire and of the engines.
#include "test/sim/check/sent_again.h"

#include "test/sim/host.h"

namespace uroce::sim {

bool is_calm(World& world) {
  const WireCounters& wire = world.counters();
  if (world.fabric.exists() || world.faults.latency_period != Duration{}) return false;
  if (wire.lost + wire.duplicated + wire.reordered + wire.corrupted + wire.stalls +
          wire.port_drops + wire.cut + wire.pauses + wire.oversize !=
      0) {
    return false;
  }
  for (size_t i = 0; i < world.host_count(); ++i) {
    if (world.host(i).engine().counters().rnr_nak_sent.value() != 0) return false;
  }
  return true;
}

void check_sent_again(World& world, Verdict& verdict) {
  for (size_t i = 0; i < world.host_count(); ++i) {
    Host& host = world.host(i);
    const uint64_t again = host.engine().counters().retransmitted_packets.value();
    if (again == 0) continue;
    verdict.fail("sent again", host.name() + " has sent " + std::to_string(again) +
                                   " packets again, and nothing has gone wrong");
  }
}

}  // namespace uroce::sim
