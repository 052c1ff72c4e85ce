// SPDX-License-Identifier: BSD-3-Clause
// What the fault option asks for: chances of loss, duplication, reordering, flipped bits; a delay.
#ifndef UROCE_NIC_FAULT_PLAN_H
#define UROCE_NIC_FAULT_PLAN_H

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/types.h"

namespace uroce::nic {

struct FaultPlan {
  // Chance per received frame, 0 … 1.
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // held back until one to four later frames have passed
  double corrupt = 0;  // one bit flipped behind the Ethernet header
  Duration delay{};    // of every frame, at most kFaultDelayMax
  uint64_t seed = 1;

  bool any() const {
    return loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 || delay > Duration{};
  }
};

inline constexpr Duration kFaultDelayMax = std::chrono::seconds(1);

// Reads "loss=0.01,dup=0.01,reorder=0.01,corrupt=0.001,delay=20us,seed=7": any of them, in any
// order, separated by commas; delay takes ns, us or ms. The empty text is a plan without faults.
// kInvalidArgument: one line that names the part which is wrong and what is allowed.
absl::StatusOr<FaultPlan> parse_fault_plan(absl::string_view text);

}  // namespace uroce::nic

#endif  // UROCE_NIC_FAULT_PLAN_H
