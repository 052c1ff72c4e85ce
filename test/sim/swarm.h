// SPDX-License-Identifier: BSD-3-Clause
// Many seeds at once, spread over processes.
#ifndef UROCE_TEST_SIM_SWARM_H
#define UROCE_TEST_SIM_SWARM_H

#include <cstdint>
#include <string>

#include "test/sim/tally.h"

namespace uroce::sim {

struct SwarmResult {
  uint64_t runs = 0;
  bool failed = false;
  uint64_t failed_seed = 0;  // the lowest that failed
  std::string crash;         // how a process died over it; empty: a checker complained
  uint64_t messages = 0;
  uint64_t frames = 0;
  uint64_t lost = 0;  // in whatever way
  uint64_t stalls = 0;
  uint64_t retransmitted = 0;
  uint64_t renewed = 0;
  Tally tally;
  double virtual_seconds = 0;
};

// Seeds first … first + count - 1 in `jobs` processes. Stops after the first that fails, but no
// lower seed is left out: the result is the same whatever `jobs` is.
SwarmResult run_swarm(uint64_t first, uint64_t count, unsigned jobs);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_SWARM_H
