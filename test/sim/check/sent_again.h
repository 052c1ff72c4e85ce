// SPDX-License-Identifier: BSD-3-Clause
// Checker "sent again": where nothing goes wrong and a packet always takes as long, nothing is sent
// again.
#ifndef UROCE_TEST_SIM_CHECK_SENT_AGAIN_H
#define UROCE_TEST_SIM_CHECK_SENT_AGAIN_H

#include "test/sim/verdict.h"
#include "test/sim/world.h"

namespace uroce::sim {

// Whether the wire has had no fault, no switch and a constant latency, and no receiver was not
// ready. The caller knows of connections that got a new life.
bool is_calm(World& world);
void check_sent_again(World& world, Verdict& verdict);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_SENT_AGAIN_H
