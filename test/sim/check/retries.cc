// SPDX-License-Identifier: BSD-3-Clause
// The contract of retry_cnt: that many attempts after the first, each of them spoilt. The first may
// have been spoilt before the application took the completion that counts as progress.
#include "test/sim/check/retries.h"

namespace uroce::sim {

void check_give_up(uint64_t faults_since_progress, uint8_t retry_count, Verdict& verdict) {
  if (faults_since_progress >= retry_count) return;
  verdict.fail("retries", "retry_cnt " + std::to_string(retry_count) + " ran out after " +
                              std::to_string(faults_since_progress) + " faults of the wire");
}

}  // namespace uroce::sim
