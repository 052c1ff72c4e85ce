// SPDX-License-Identifier: BSD-3-Clause
// The drop reasons: every one has a counter's name of its own and an explanation.
#include "wire/drop.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace uroce::wire {
namespace {

TEST(DropReasons, HaveNamesOfTheirOwnThatFitACounter) {
  std::set<std::string> names;
  for (size_t i = 0; i < kDropCount; ++i) {
    const std::string name = drop_name(static_cast<Drop>(i));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(name.empty());
    for (const char c : name) {
      const bool fits = std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
      EXPECT_TRUE(fits) << name;
    }
    const std::string explanation = drop_explanation(static_cast<Drop>(i));
    EXPECT_FALSE(explanation.empty()) << name;
    EXPECT_EQ(explanation.find('\n'), std::string::npos) << name;
  }
  EXPECT_STREQ(drop_name(Drop::kIcrc), "icrc");
  EXPECT_STREQ(drop_name(Drop::kOpcodeUnknown), "opcode_unknown");
}

TEST(DropReasons, ValuesOutsideTheEnumAreHarmless) {
  EXPECT_STREQ(drop_name(Drop::kCount), "?");
  EXPECT_STREQ(drop_explanation(static_cast<Drop>(255)), "no such reason");
}

}  // namespace
}  // namespace uroce::wire
