// SPDX-License-Identifier: BSD-3-Clause
// Draws a run from its seed and drives it to its end.
#include "test/sim/run.h"

#include "test/sim/host.h"
#include "test/sim/traffic.h"

namespace uroce::sim {
namespace {

constexpr Duration kLimit{60'000'000'000};  // of virtual time: far beyond any honest run

Faults draw_faults(Random& random) {
  Faults faults;
  auto up_to = [&random](double most) {
    return most * static_cast<double>(random.below(1001)) / 1000.0;
  };
  faults.loss = 0.05;
  faults.duplicate = 0.02;
  faults.reorder = up_to(0.05);
  faults.corrupt = up_to(0.01);
  // In every other run. Some stalls outlast an ACK timeout; all of them together must not eat every
  // retry of a queue pair, or it fails and is right to do so.
  faults.stall = random.below(2) == 0 ? up_to(0.004) : 0;
  faults.port_frames = 8 + random.below(120);
  return faults;
}

TrafficPlan draw_plan(Random& random) {
  TrafficPlan plan;
  plan.mtu = static_cast<ib_mtu>(1 + random.below(5));
  plan.first_psn = random.below(2) == 0 ? 0xFFFFFF - static_cast<uint32_t>(random.below(100))
                                        : static_cast<uint32_t>(random.below(1u << 24));
  plan.recv_starves = random.below(2) == 0;
  return plan;
}

}  // namespace

RunResult run_seed(uint64_t seed, const RunOptions& options) {
  RunResult result;
  World world(seed);
  if (!options.pcap.empty()) world.capture_to(options.pcap);
  world.log_to(options.log);
  Host& left = world.add_host(std::make_unique<Host>(world, 1, seed * 2 + 1));
  Host& right = world.add_host(std::make_unique<Host>(world, 2, seed * 2 + 2));
  left.start();
  right.start();
  const TrafficPlan plan = draw_plan(world.random());
  End a(world, left, plan, world.random().next64());
  End b(world, right, plan, world.random().next64());
  a.connect(b);
  b.connect(a);
  world.faults = draw_faults(world.random());
  const Time end = world.now() + kLimit;
  while (!(a.finished() && b.finished()) && world.now() < end) {
    a.work();
    b.work();
    left.pump();
    right.pump();
    if (!world.step()) world.run_until(world.now() + Duration(100'000));
  }
  if (world.now() >= end) result.failure = "the run does not end";
  a.compare_memory();
  b.compare_memory();
  for (const End* side : {&a, &b}) {
    if (result.failure.empty()) result.failure = side->failure();
    result.messages += side->messages_done();
  }
  result.wire = world.counters();
  result.retransmitted = left.engine().counters().retransmitted_packets.value() +
                         right.engine().counters().retransmitted_packets.value();
  result.virtual_time = world.now() - Time{};
  return result;
}

}  // namespace uroce::sim
