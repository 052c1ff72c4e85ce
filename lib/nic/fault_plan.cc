// SPDX-License-Identifier: BSD-3-Clause
// The fault option's text, read into a plan.
#include "nic/fault_plan.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/quotable.h"

namespace uroce::nic {
namespace {

absl::Status wrong(absl::string_view part, absl::string_view cure) {
  return absl::InvalidArgumentError(
      absl::StrFormat("fault '%s': %s", quotable(std::string(part)), cure));
}

absl::Status read_chance(absl::string_view part, absl::string_view value, double& chance) {
  double read = 0;
  if (!absl::SimpleAtod(value, &read) || !(read >= 0 && read <= 1)) {
    return wrong(part, "a chance is a number from 0 to 1, such as 0.01");
  }
  chance = read;
  return absl::OkStatus();
}

absl::Status read_delay(absl::string_view part, absl::string_view value, Duration& delay) {
  int64_t unit_ns = 0;
  if (absl::ConsumeSuffix(&value, "ns")) {
    unit_ns = 1;
  } else if (absl::ConsumeSuffix(&value, "us")) {
    unit_ns = 1'000;
  } else if (absl::ConsumeSuffix(&value, "ms")) {
    unit_ns = 1'000'000;
  }
  int64_t count = 0;
  if (unit_ns == 0 || !absl::SimpleAtoi(value, &count) || count < 0 ||
      count > kFaultDelayMax.count() / unit_ns) {
    return wrong(part, "a delay is a whole number with ns, us or ms, at most 1000ms");
  }
  delay = Duration{count * unit_ns};
  return absl::OkStatus();
}

absl::Status read_part(absl::string_view part, FaultPlan& plan) {
  const std::pair<absl::string_view, absl::string_view> pair =
      absl::StrSplit(part, absl::MaxSplits('=', 1));
  const auto& [name, value] = pair;
  if (name == "loss") return read_chance(part, value, plan.loss);
  if (name == "dup") return read_chance(part, value, plan.duplicate);
  if (name == "reorder") return read_chance(part, value, plan.reorder);
  if (name == "corrupt") return read_chance(part, value, plan.corrupt);
  if (name == "delay") return read_delay(part, value, plan.delay);
  if (name == "seed") {
    if (absl::SimpleAtoi(value, &plan.seed)) return absl::OkStatus();
    return wrong(part, "a seed is a whole number");
  }
  return wrong(part, "unknown; there are loss, dup, reorder, corrupt, delay and seed");
}

}  // namespace

absl::StatusOr<FaultPlan> parse_fault_plan(absl::string_view text) {
  FaultPlan plan;
  if (text.empty()) return plan;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    if (absl::Status read = read_part(part, plan); !read.ok()) return read;
  }
  return plan;
}

}  // namespace uroce::nic
