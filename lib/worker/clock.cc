// SPDX-License-Identifier: BSD-3-Clause
// TSC to nanoseconds in fixed point.
#include "worker/clock.h"

#include <rte_cycles.h>

namespace uroce::worker {

TscClock::TscClock() : TscClock(rte_get_tsc_hz(), rte_rdtsc()) {}

TscClock::TscClock(uint64_t tsc_hz, uint64_t origin_tsc)
    : origin_(origin_tsc),
      ns_per_tick_(static_cast<uint64_t>((static_cast<unsigned __int128>(1'000'000'000) << kShift) /
                                         tsc_hz)) {}

Time TscClock::now() const { return at(rte_rdtsc()); }

}  // namespace uroce::worker
