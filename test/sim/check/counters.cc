// SPDX-License-Identifier: BSD-3-Clause
// The sums that must agree.
#include "test/sim/check/counters.h"

#include "test/sim/host.h"
#include "wire/drop.h"

namespace uroce::sim {
namespace {

void equal(Verdict& verdict, const std::string& what, uint64_t left, uint64_t right) {
  if (left == right) return;
  verdict.fail("counters", what + ": " + std::to_string(left) + " and " + std::to_string(right));
}

}  // namespace

void check_frame_counters(Host& host, Verdict& verdict) {
  const HostAudit& audit = host.audit();
  const transport::TransportCounters& counters = host.engine().counters();
  equal(verdict, host.name() + ": RoCE packets counted as sent, and frames made",
        counters.sent_packets.value(), audit.roce_out);
  equal(verdict, host.name() + ": frames that neither were received nor have a drop, and none",
        audit.lost_silently, 0);
  for (size_t i = 0; i < wire::kDropCount; ++i) {
    const auto reason = static_cast<wire::Drop>(i);
    if (host.engine().drops().by_reason[i].value() == 0) continue;
    if (reason == wire::Drop::kNone || wire::drop_name(reason)[0] == '?') {
      verdict.fail("counters", host.name() + ": a drop without a name: " + std::to_string(i));
    }
  }
}

void check_host_counters(Host& host, Verdict& verdict) {
  const transport::TransportCounters& counters = host.engine().counters();
  check_frame_counters(host, verdict);
  equal(verdict, host.name() + ": completions that found no room, and none",
        counters.cq_overrun.value(), 0);
  equal(verdict, host.name() + ": events lost, and none", counters.events_lost.value(), 0);
}

void check_wire_counters(const World& world, Verdict& verdict) {
  const WireCounters& wire = world.counters();
  equal(verdict, "copies on the wire, and what became of them", wire.copies,
        wire.delivered + wire.lost + wire.cut + wire.tail_drops + wire.port_drops + wire.oversize +
            world.in_flight());
}

}  // namespace uroce::sim
