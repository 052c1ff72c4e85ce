// SPDX-License-Identifier: BSD-3-Clause
// Runs a plan in a world of its own.
#include "test/sim/run.h"

#include <exception>

#include "test/sim/check/wire_rules.h"
#include "test/sim/execution.h"
#include "test/sim/host.h"

namespace uroce::sim {

RunResult run_plan(const Plan& plan, const RunOptions& options) {
  RunResult result;
  Verdict verdict;
  World world(plan.seed);
  WireRules rules(verdict);
  world.rules = &rules;
  if (!options.pcap.empty()) world.capture_to(options.pcap);
  world.log_to(options.log);
  try {
    Execution execution(world, plan, verdict);
    execution.run();
    result.messages = execution.messages();
    result.retransmitted = execution.retransmitted();
    result.renewed = execution.renewed();
    result.tally = execution.tally();
  } catch (const std::exception& error) {
    verdict.fail("control calls", error.what());
  }
  result.checker = verdict.checker;
  result.failure = verdict.text();
  result.wire = world.counters();
  result.virtual_time = world.now() - Time{};
  return result;
}

RunResult run_seed(uint64_t seed, const RunOptions& options) {
  return run_plan(draw_plan(seed), options);
}

}  // namespace uroce::sim
