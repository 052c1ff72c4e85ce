// SPDX-License-Identifier: BSD-3-Clause
// Engine time from the CPU's time stamp counter: one calibration, one read per loop turn.
#ifndef UROCE_WORKER_CLOCK_H
#define UROCE_WORKER_CLOCK_H

#include "base/types.h"

namespace uroce::worker {

// Counts nanoseconds from its construction. Copies agree. Needs an invariant TSC (every x86-64
// server CPU) and EAL's calibration of it.
class TscClock {
 public:
  TscClock();  // after EAL is up
  explicit TscClock(uint64_t tsc_hz, uint64_t origin_tsc = 0);

  Time now() const;
  // The time at a given TSC value at or after the origin; no overflow for 584 years.
  Time at(uint64_t tsc) const {
    const uint64_t ticks = tsc - origin_;
    const auto ns =
        static_cast<int64_t>((static_cast<unsigned __int128>(ticks) * ns_per_tick_) >> kShift);
    return Time(Duration(ns));
  }

 private:
  static constexpr unsigned kShift = 32;
  uint64_t origin_;
  uint64_t ns_per_tick_;  // fixed point, kShift fraction bits
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_CLOCK_H
