// SPDX-License-Identifier: BSD-3-Clause
// One seed is one run: the faults, the traffic and the verdict.
#ifndef UROCE_TEST_SIM_RUN_H
#define UROCE_TEST_SIM_RUN_H

#include <cstdint>
#include <string>

#include "test/sim/world.h"

namespace uroce::sim {

struct RunOptions {
  std::string pcap;  // empty: none
  std::string* log = nullptr;
};

struct RunResult {
  std::string failure;  // empty: every checker was content
  WireCounters wire;
  uint64_t messages = 0;
  uint64_t retransmitted = 0;
  Duration virtual_time{};
};

// Everything about the run follows from `seed`.
RunResult run_seed(uint64_t seed, const RunOptions& options = {});

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_RUN_H
