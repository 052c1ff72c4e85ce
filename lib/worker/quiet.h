// SPDX-License-Identifier: BSD-3-Clause
// Tells from outside, by their counters, when loops have nothing to do any more.
#ifndef UROCE_WORKER_QUIET_H
#define UROCE_WORKER_QUIET_H

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "worker/loop.h"

namespace uroce::worker {

// Control thread; the loops may be turned by any other one meanwhile.
class Quiet {
 public:
  static constexpr Duration kLeast{5'000'000};
  static constexpr uint64_t kTurnsLeast = 16;

  // The counters outlive this.
  explicit Quiet(const std::vector<const LoopCounters*>& loops);

  // True once no loop has moved a frame for kLeast, and in that time each has run kTurnsLeast
  // turns: a worker that waits for its CPU is not quiet, it is only late.
  bool reached(Time now);

 private:
  struct Watched {
    const LoopCounters* counters;
    uint64_t turns;  // when the last movement was seen
  };
  std::vector<Watched> loops_;
  uint64_t busy_turns_ = 0;
  Time since_ = kNever;  // kNever: not looked yet
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_QUIET_H
