// SPDX-License-Identifier: BSD-3-Clause
// One seed is one run: the plan, the world and the verdict. And a smaller plan that fails alike.
#ifndef UROCE_TEST_SIM_RUN_H
#define UROCE_TEST_SIM_RUN_H

#include <cstdint>
#include <string>
#include <vector>

#include "test/sim/plan.h"
#include "test/sim/tally.h"
#include "test/sim/world.h"

namespace uroce::sim {

struct RunOptions {
  std::string pcap;  // empty: none
  std::string* log = nullptr;
};

struct RunResult {
  std::string checker;  // who complained; empty: every checker was content
  std::string failure;  // the checker and its sentence
  WireCounters wire;
  uint64_t messages = 0;
  uint64_t retransmitted = 0;
  uint64_t renewed = 0;  // connections that got a new life
  Tally tally;
  Duration virtual_time{};
};

RunResult run_plan(const Plan& plan, const RunOptions& options = {});

// Everything about the run follows from `seed`.
RunResult run_seed(uint64_t seed, const RunOptions& options = {});

// Numbers of steps of a plan that fails, few of which are needed for the same checker to complain:
// delta debugging, at most `runs_max` runs.
std::vector<size_t> shrink(const Plan& plan, const std::string& checker, size_t runs_max);
// The plan with these steps only.
Plan with_steps(const Plan& plan, const std::vector<size_t>& kept);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_RUN_H
