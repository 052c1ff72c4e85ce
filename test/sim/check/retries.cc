// SPDX-License-Identifier: BSD-3-Clause
// The contract of retry_cnt: one attempt more than that, each of them spoilt.
#include "test/sim/check/retries.h"

namespace uroce::sim {

void check_give_up(uint64_t faults_since_progress, uint8_t retry_count, Verdict& verdict) {
  const uint64_t attempts = retry_count + uint64_t{1};
  if (faults_since_progress >= attempts) return;
  verdict.fail("retries", "retry_cnt " + std::to_string(retry_count) + " ran out after " +
                              std::to_string(faults_since_progress) + " faults of the wire");
}

}  // namespace uroce::sim
