// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 by folding against the same by tables, for every length and every start.
#include "wire/crc32_fold.h"

#include <gtest/gtest.h>

#include "wire/crc32.h"
#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::Random;

class Fold : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fold_enabled) GTEST_SKIP() << "this CPU has no carry-less multiplication";
  }
  static __m128i vector_at(const std::vector<uint8_t>& data, size_t offset) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data.data() + offset));
  }
  Random random_{32};
};

TEST_F(Fold, ThreeVectorsAndARestOfEveryLength) {
  for (size_t n = 0; n <= 300; ++n) {
    const std::vector<uint8_t> data = random_.bytes(48 + n);
    EXPECT_EQ(fold_three(vector_at(data, 0), vector_at(data, 16), vector_at(data, 32),
                         data.data() + 48, n),
              crc32_short(0, data.data(), data.size()))
        << n;
  }
}

TEST_F(Fold, FourVectorsAndARestOfEveryLength) {
  for (size_t n = 0; n <= 300; ++n) {
    const std::vector<uint8_t> data = random_.bytes(64 + n);
    EXPECT_EQ(fold_four(vector_at(data, 0), vector_at(data, 16), vector_at(data, 32),
                        vector_at(data, 48), data.data() + 64, n),
              crc32_short(0, data.data(), data.size()))
        << n;
  }
}

TEST_F(Fold, CopyingOfEveryLengthFromEveryCrc) {
  for (size_t n = 16; n <= 300; ++n) {
    const std::vector<uint8_t> data = random_.bytes(n);
    std::vector<uint8_t> copy(n + 2, 0x77);
    const uint32_t before = random_.quad();
    EXPECT_EQ(fold_copy(before, copy.data() + 1, data.data(), n),
              crc32_short(before, data.data(), n))
        << n;
    EXPECT_TRUE(std::equal(data.begin(), data.end(), copy.begin() + 1));
    EXPECT_EQ(copy.front(), 0x77);
    EXPECT_EQ(copy.back(), 0x77);
  }
}

}  // namespace
}  // namespace uroce::wire
