// SPDX-License-Identifier: BSD-3-Clause
// What is written is read back, and what is no address is refused.
#include "base/address_text.h"

#include <gtest/gtest.h>

namespace uroce {
namespace {

TEST(AddressText, ReadsBackWhatItWrites) {
  for (const char* text : {"10.0.0.1/24", "0.0.0.0/0", "fd00::1/64", "fe80::ff:fe00:1/128"}) {
    const auto prefix = parse_prefix(text);
    ASSERT_TRUE(prefix) << text;
    EXPECT_EQ(prefix_text(*prefix), text);
  }
  EXPECT_EQ(*parse_address("10.0.0.1"), Gid::from_ipv4(0x0A000001));
  EXPECT_EQ(*parse_address("::ffff:10.0.0.1"), Gid::from_ipv4(0x0A000001));
  EXPECT_EQ(mac_text(*parse_mac("02:00:5e:0a:ff:01")), "02:00:5e:0a:ff:01");
}

TEST(AddressText, TakesAGidAsDigitsToo) {
  EXPECT_EQ(*parse_gid("00000000000000000000ffff0a000001"), Gid::from_ipv4(0x0A000001));
  EXPECT_EQ(*parse_gid("FF3E000000000000000000000000000a"), *parse_address("ff3e::a"));
  EXPECT_EQ(*parse_gid("10.0.0.1"), Gid::from_ipv4(0x0A000001));
  EXPECT_EQ(*parse_gid("ff3e:0000:0000:0000:0000:00:00:a"), *parse_gid("ff3e::a"))
      << "32 characters";
  for (const char* text :
       {"", "ff3e000000000000000000000000000", "0xff3e0000000000000000000000000a",
        "ff3e000000000000000000000000000g", "-f3e000000000000000000000000000a",
        "ff3e00000000000000000000000000001"}) {
    EXPECT_FALSE(parse_gid(text)) << text;
  }
}

TEST(AddressText, RefusesWhatIsNone) {
  for (const char* text : {"", "10.0.0", "10.0.0.1/33", "fd00::1/129", "10.0.0.1/", "10.0.0.1/2x",
                           "10.0.0.256", "eth0", "10.0.0.1/-1"}) {
    EXPECT_FALSE(parse_prefix(text)) << text;
  }
  for (const char* text : {"02:00:00:00:00", "02:00:00:00:00:0g", "02-00-00-00-00-01", ""}) {
    EXPECT_FALSE(parse_mac(text)) << text;
  }
}

}  // namespace
}  // namespace uroce
