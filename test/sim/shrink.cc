// SPDX-License-Identifier: BSD-3-Clause
// Delta debugging: leaves out half of the steps, then quarters, and so on down to single ones, and
// keeps what still fails. A step left out changes which frames the wire hurts, so this finds a
// small plan, not the smallest.
#include <algorithm>

#include "test/sim/run.h"

namespace uroce::sim {

Plan with_steps(const Plan& plan, const std::vector<size_t>& kept) {
  Plan smaller = plan;
  smaller.steps.clear();
  for (const size_t number : kept) {
    if (number < plan.steps.size()) smaller.steps.push_back(plan.steps[number]);
  }
  return smaller;
}

std::vector<size_t> shrink(const Plan& plan, const std::string& checker, size_t runs_max) {
  std::vector<size_t> kept(plan.steps.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
  size_t runs = 0;
  for (size_t chunk = (kept.size() + 1) / 2; chunk > 0; chunk /= 2) {
    for (size_t at = 0; at < kept.size() && runs < runs_max;) {
      std::vector<size_t> fewer = kept;
      const size_t end = std::min(at + chunk, fewer.size());
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(at),
                  fewer.begin() + static_cast<ptrdiff_t>(end));
      ++runs;
      if (run_plan(with_steps(plan, fewer)).checker == checker) {
        kept = fewer;
      } else {
        at += chunk;
      }
    }
  }
  return kept;
}

}  // namespace uroce::sim
