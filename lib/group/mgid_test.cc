// SPDX-License-Identifier: BSD-3-Clause
// Which GIDs are groups, who may send to them, and which MAC address a group has.
#include "group/mgid.h"

#include <gtest/gtest.h>

#include "base/address_text.h"

namespace uroce::group {
namespace {

Gid mgid(const char* text) { return parse_address(text).value(); }

// case 62: the group that only shares the MAC address has the same MAC and another MGID.
TEST(Mgid, MacOfAnIpv4GroupKeepsTheLow23Bits_Case62) {
  const MacAddress mac{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x01}};
  EXPECT_EQ(mac_of(mgid("239.1.2.1")), mac);
  EXPECT_EQ(mac_of(mgid("239.129.2.1")), mac);
  EXPECT_EQ(mac_of(mgid("224.1.2.1")), mac);  // case 65
  EXPECT_NE(mgid("239.1.2.1"), mgid("239.129.2.1"));
  EXPECT_EQ(mac_of(mgid("224.0.0.22")), (MacAddress{{0x01, 0x00, 0x5e, 0, 0, 0x16}}));
}

TEST(Mgid, MacOfAnIpv6GroupKeepsTheLast32Bits_Case62) {
  EXPECT_EQ(mac_of(mgid("ff1e::1:2")), (MacAddress{{0x33, 0x33, 0x00, 0x01, 0x00, 0x02}}));
  EXPECT_EQ(mac_of(mgid("ff02::1:ff00:2")), (MacAddress{{0x33, 0x33, 0xff, 0x00, 0x00, 0x02}}));
}

// MC-02 … MC-05: what attach refuses with EINVAL.
TEST(Mgid, UnicastAndZeroAreNoGroups_Case62) {
  EXPECT_FALSE(is_valid_mgid(Gid{}));
  EXPECT_FALSE(is_valid_mgid(Gid::from_ipv4(0x0A000001)));
  EXPECT_FALSE(is_valid_mgid(Gid::from_ipv4(0xDFFFFFFF)));
  EXPECT_FALSE(is_valid_mgid(Gid::from_ipv4(0xF0000000)));
  EXPECT_TRUE(is_valid_mgid(Gid::from_ipv4(0xE0000001)));
  EXPECT_TRUE(is_valid_mgid(Gid::from_ipv4(0xEFFFFFFF)));
}

TEST(Mgid, ASourceIsAnAddressOfAHostOfTheGroupsFamily) {
  const Gid group4 = mgid("239.1.2.1");
  const Gid group6 = mgid("ff3e::1");
  EXPECT_TRUE(is_valid_source(group4, mgid("10.0.0.1")));
  EXPECT_TRUE(is_valid_source(group6, mgid("fd00::1")));
  EXPECT_TRUE(is_valid_source(group6, mgid("fe80::1")));
  EXPECT_FALSE(is_valid_source(group6, mgid("10.0.0.1")));
  EXPECT_FALSE(is_valid_source(group4, mgid("fd00::1")));
  for (const char* text :
       {"0.0.0.0", "0.0.0.9", "127.0.0.1", "127.255.0.9", "255.255.255.255", "239.1.2.1", "::"}) {
    EXPECT_FALSE(is_valid_source(group4, mgid(text))) << text;
  }
  for (const char* text : {"::", "::1", "ff3e::1", "0.0.0.0"}) {
    EXPECT_FALSE(is_valid_source(group6, mgid(text))) << text;
  }
}

}  // namespace
}  // namespace uroce::group
