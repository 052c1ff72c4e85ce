// SPDX-License-Identifier: BSD-3-Clause
// What a run has driven: how often its workload has used each thing that a plan can draw.
#ifndef UROCE_TEST_SIM_TALLY_H
#define UROCE_TEST_SIM_TALLY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "test/sim/plan.h"

namespace uroce::sim {

// What is neither an operation nor a step of a plan, but comes of them.
enum class Deed : uint8_t {
  kOnUc,
  kOnXrc,
  kLentAccess,
  kCaughtAccess,
  kLimitEvent,
  kRetriesRanOut,
  kRnrRetriesRanOut,
  kCommEst,
  kSqDrained,
  kLastWqe,
  kCalmRun
};
inline constexpr const char* kDeedNames[] = {"requests on UC",
                                             "requests on XRC",
                                             "accesses through lent keys",
                                             "of them refused as the key changed",
                                             "SRQ limit events",
                                             "retry_cnt used up",
                                             "rnr_retry used up",
                                             "COMM_EST",
                                             "SQ_DRAINED",
                                             "LAST_WQE_REACHED",
                                             "runs in which nothing may be sent again"};

class Tally {
 public:
  static constexpr size_t kSize = kOperationCount + kStepKinds + std::size(kDeedNames);

  void posted(const OperationKind& kind) { ++counts[static_cast<size_t>(&kind - kOperations)]; }
  void carried_out(StepKind kind) { ++counts[kOperationCount + static_cast<size_t>(kind)]; }
  void did(Deed deed) { ++counts[kOperationCount + kStepKinds + static_cast<size_t>(deed)]; }

  std::array<uint64_t, kSize> counts{};
};

// "1200 SEND, 700 RDMA_WRITE, …": all of them, so that what was never driven shows.
std::string describe(const Tally& tally);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_TALLY_H
