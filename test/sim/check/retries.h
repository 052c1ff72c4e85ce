// SPDX-License-Identifier: BSD-3-Clause
// Checker "retries": a queue pair may give up only when the wire has really eaten every attempt,
// or the receiver has really refused each.
#ifndef UROCE_TEST_SIM_CHECK_RETRIES_H
#define UROCE_TEST_SIM_CHECK_RETRIES_H

#include <cstdint>

#include "test/sim/verdict.h"

namespace uroce::sim {

// retry_cnt ran out. `faults_since_progress`: what went wrong between the two hosts since the last
// completion; `faults_of_life`: since they were connected.
void check_give_up(uint64_t faults_since_progress, uint64_t faults_of_life, uint8_t retry_count,
                   Verdict& verdict);
// rnr_retry ran out after `refusals` RNR NAKs without progress.
void check_refused(uint32_t refusals, uint8_t rnr_retry, Verdict& verdict);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_CHECK_RETRIES_H
