// SPDX-License-Identifier: BSD-3-Clause
// What the checkers of a run say: the first rule that was broken, and by whom it was noticed.
#ifndef UROCE_TEST_SIM_VERDICT_H
#define UROCE_TEST_SIM_VERDICT_H

#include <string>
#include <string_view>

namespace uroce::sim {

struct Verdict {
  std::string checker;  // empty: nobody complains
  std::string what;
  bool good() const { return checker.empty(); }
  // Only the first complaint is kept: what comes after it is its consequence.
  void fail(std::string_view by, std::string_view sentence) {
    if (!good()) return;
    checker = by;
    what = sentence;
  }
  std::string text() const { return good() ? "" : checker + ": " + what; }
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_VERDICT_H
