// SPDX-License-Identifier: BSD-3-Clause
// Checker "counters": what the wire, the ports and the engines have counted must add up, and every
// frame that an engine was given was received or has a drop with a name.
#ifndef UROCE_TEST_SIM_CHECK_COUNTERS_H
#define UROCE_TEST_SIM_CHECK_COUNTERS_H

#include "test/sim/verdict.h"
#include "test/sim/world.h"

namespace uroce::sim {

// Frames alone: completions and events that found no room are not asked for.
void check_frame_counters(Host& host, Verdict& verdict);
// And nothing has been lost for want of room.
void check_host_counters(Host& host, Verdict& verdict);
// At any moment between two steps.
void check_wire_counters(const World& world, Verdict& verdict);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_COUNTERS_H
