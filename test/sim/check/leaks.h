// SPDX-License-Identifier: BSD-3-Clause
// Checker "leaks": when the application has destroyed what it made, nothing is left of it.
#ifndef UROCE_TEST_SIM_CHECK_LEAKS_H
#define UROCE_TEST_SIM_CHECK_LEAKS_H

#include "test/sim/verdict.h"
#include "test/sim/world.h"

namespace uroce::sim {

// Once the last object on `host` is gone.
void check_leaks(Host& host, Verdict& verdict);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_LEAKS_H
