// SPDX-License-Identifier: BSD-3-Clause
// Gathering from lists at every offset, and refusing what the keys refuse.
#include "memory/gather.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "memory/memory_test.h"

namespace uroce::memory {
namespace {

TEST(Gather, JoinsElementsAtEveryOffsetAndLength) {
  OneRegion one(0);
  std::iota(one.buffer.begin(), one.buffer.end(), uint8_t{0});
  const uint32_t k = one.kKey.value();
  const Sge list[] = {{one.address() + 100, 5, k},
                      {0, 0, 0xBAD},
                      {one.address(), 7, k},
                      {one.address() + 50, 3, k}};
  std::vector<uint8_t> whole;
  for (const Sge& s : list) {
    for (uint32_t i = 0; i < s.length; ++i) {
      whole.push_back(static_cast<uint8_t>(s.address - one.address() + i));
    }
  }
  for (uint32_t offset = 0; offset <= 15; ++offset) {
    for (uint32_t n = 0; offset + n <= 15; ++n) {
      std::vector<uint8_t> out(n);
      ASSERT_EQ(gather(one.keys, one.kPd, list, offset, out.data(), n), KeyVerdict::kGood);
      EXPECT_TRUE(std::equal(out.begin(), out.end(), whole.begin() + offset));
    }
  }
}

TEST(Gather, RefusesAnElementThatRunsOverItsRegion) {
  OneRegion one(0);
  const Sge list[] = {{one.address() + 250, 7, one.kKey.value()}};
  uint8_t out[8];
  EXPECT_EQ(gather(one.keys, one.kPd, list, 0, out, 1), KeyVerdict::kOutOfRange);
}

}  // namespace
}  // namespace uroce::memory
