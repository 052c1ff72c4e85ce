// SPDX-License-Identifier: BSD-3-Clause
// What is a number, and what only begins with one.
#include "config/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace uroce::config {
namespace {

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_EQ(whole_number<uint32_t>("4294967295"), 4294967295u);
  EXPECT_EQ(whole_number<uint16_t>("007"), 7);
  for (const char* text : {"", "x", "12k", "0x10", " 1", "1 ", "-1", "+1", "4294967296"}) {
    EXPECT_EQ(whole_number<uint32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(whole_number<uint16_t>("65536"), std::nullopt);
}

}  // namespace
}  // namespace uroce::config
