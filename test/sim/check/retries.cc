// SPDX-License-Identifier: BSD-3-Clause
// The contract of retry_cnt: that many attempts after the first, each of them spoilt. The first may
// have been spoilt before the application took the completion that counts as progress.
#include "test/sim/check/retries.h"

namespace uroce::sim {
namespace {

constexpr uint8_t kForEver = 7;

}  // namespace

void check_give_up(uint64_t faults_since_progress, uint64_t faults_of_life, uint8_t retry_count,
                   Verdict& verdict) {
  if (faults_since_progress >= retry_count && faults_of_life > retry_count) return;
  verdict.fail("retries", "retry_cnt " + std::to_string(retry_count) + " ran out after " +
                              std::to_string(faults_since_progress) + " faults of the wire, " +
                              std::to_string(faults_of_life) + " since it was connected");
}

void check_refused(uint32_t refusals, uint8_t rnr_retry, Verdict& verdict) {
  if (rnr_retry != kForEver && refusals > rnr_retry) return;
  verdict.fail("retries", "rnr_retry " + std::to_string(rnr_retry) + " ran out after " +
                              std::to_string(refusals) + " RNR NAKs");
}

}  // namespace uroce::sim
