// SPDX-License-Identifier: BSD-3-Clause
// Checker "retries": a queue pair may give up only when the wire has really eaten every attempt.
#ifndef UROCE_TEST_SIM_CHECK_RETRIES_H
#define UROCE_TEST_SIM_CHECK_RETRIES_H

#include <cstdint>

#include "test/sim/verdict.h"

namespace uroce::sim {

// `faults_since_progress`: what went wrong between the two hosts since the last completion.
void check_give_up(uint64_t faults_since_progress, uint8_t retry_count, Verdict& verdict);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_RETRIES_H
