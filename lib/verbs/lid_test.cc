// SPDX-License-Identifier: BSD-3-Clause
// Tests of local identifiers in 16 bits, and of the one warning.
#include <gtest/gtest.h>
#include <uroce/ib_port.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/log.h"

namespace uroce {
namespace {

// LD-01, LD-02.
TEST(Lid, IsCutTo16BitsAndSaysSoOnce) {
  std::vector<std::string> said;
  set_log_sink(
      [](void* to, LogLevel, std::string_view sentence) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(sentence);
      },
      &said);
  EXPECT_EQ(ib_lid_cpu16(0), 0);
  EXPECT_EQ(ib_lid_cpu16(0xC000), 0xC000);
  const __be16 wire = ib_lid_be16(0x1234);
  EXPECT_EQ(std::memcmp(&wire, "\x12\x34", 2), 0);
  EXPECT_TRUE(said.empty());
  EXPECT_EQ(ib_lid_cpu16(0x12345678), 0x5678);
  const __be16 cut = ib_lid_be16(0x0001FFFF);
  EXPECT_EQ(std::memcmp(&cut, "\xff\xff", 2), 0);
  set_log_sink(nullptr, nullptr);
  EXPECT_EQ(said.size(), 1u);
}

}  // namespace
}  // namespace uroce
