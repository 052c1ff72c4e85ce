// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 by tables and through ISA-L: known values, and agreement at every length.
#include "wire/crc32.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

constexpr uint8_t kDigits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};

TEST(Crc32, TheCheckValueOfTheNineDigits) {
  EXPECT_EQ(crc32_short(0, kDigits, sizeof kDigits), 0xCBF43926u);
  EXPECT_EQ(crc32_long(0, kDigits, sizeof kDigits), 0xCBF43926u);
  EXPECT_EQ(crc32(crc32(0, kDigits, 4), kDigits + 4, 5), 0xCBF43926u);
}

TEST(Crc32, TablesAndIsaLAgreeAtEveryLength) {
  testing::Random random(33);
  const std::vector<uint8_t> data = random.bytes(600);
  for (size_t n = 0; n <= data.size(); ++n) {
    EXPECT_EQ(crc32_long(0xABCDEF01, data.data(), n), crc32_short(0xABCDEF01, data.data(), n)) << n;
  }
}

}  // namespace
}  // namespace uroce::wire
