// SPDX-License-Identifier: BSD-3-Clause
// Checker "timers": a queue pair that waits for its peer always has a deadline, the engine knows of
// it, and no wait is longer than the timeout and retry attributes allow.
#ifndef UROCE_TEST_SIM_CHECK_TIMERS_H
#define UROCE_TEST_SIM_CHECK_TIMERS_H

#include "test/sim/host.h"
#include "test/sim/verdict.h"

namespace uroce::sim {

// One per queue pair.
class TimerCheck {
 public:
  // Whenever something has happened. `busy`: the wait is the peer's application's fault (RNR).
  void look(World& world, Host& host, Host& peer, uint32_t qp_num, Verdict& verdict);
  void reset() { seen_ = false; }

 private:
  bool seen_ = false;
  bool waited_ = false;  // at the last look
  Psn unacked_;
  uint64_t rnr_naks_ = 0;
  Time since_{};
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_TIMERS_H
