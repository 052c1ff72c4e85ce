// SPDX-License-Identifier: BSD-3-Clause
// Scattering writes exactly the bytes asked for and nothing beside them.
#include "memory/scatter.h"

#include <gtest/gtest.h>

#include "memory/memory_test.h"

namespace uroce::memory {
namespace {

TEST(Scatter, SplitsOverElementsAndLeavesGuardsAlone) {
  OneRegion one(kLocalWrite);
  one.buffer.fill(0xEE);
  const uint32_t k = one.kKey.value();
  const Sge list[] = {{one.address() + 10, 4, k}, {one.address() + 20, 4, k}};
  const uint8_t data[] = {1, 2, 3, 4, 5};
  ASSERT_EQ(scatter(one.keys, one.kPd, list, 2, data, 5), KeyVerdict::kGood);
  const uint8_t expected[] = {0xEE, 0xEE, 1, 2, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 3, 4, 5, 0xEE};
  EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), one.buffer.begin() + 10));
}

TEST(Scatter, NeedsLocalWrite) {
  OneRegion one(kRemoteRead);
  const Sge list[] = {{one.address(), 4, one.kKey.value()}};
  const uint8_t data[4] = {};
  EXPECT_EQ(scatter(one.keys, one.kPd, list, 0, data, 4), KeyVerdict::kNoAccess);
}

}  // namespace
}  // namespace uroce::memory
