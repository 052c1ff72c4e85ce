// SPDX-License-Identifier: BSD-3-Clause
// Identifier sources: bounded without bias, repeatable where asked, not constant where not.
#include "base/id_source.h"

#include <gtest/gtest.h>

namespace uroce {
namespace {

TEST(IdSource, SeededRepeatsExactly) {
  SeededIdSource a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint32_t value = a.next32();
    EXPECT_EQ(value, b.next32());
    differs |= value != c.next32();
  }
  EXPECT_TRUE(differs);
}

TEST(IdSource, BelowStaysBelowAndReachesEverything) {
  SeededIdSource source(1);
  bool seen[5] = {};
  for (int i = 0; i < 1000; ++i) {
    const uint32_t value = source.below(5);
    ASSERT_LT(value, 5u);
    seen[value] = true;
  }
  for (bool s : seen) EXPECT_TRUE(s);
}

TEST(IdSource, CsprngDoesNotRepeatABlock) {
  CsprngIdSource source;
  const uint32_t first = source.next32();
  int equal = 0;
  for (int i = 0; i < 200; ++i) equal += source.next32() == first;
  EXPECT_LT(equal, 3);
}

}  // namespace
}  // namespace uroce
