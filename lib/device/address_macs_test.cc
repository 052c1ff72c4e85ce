// SPDX-License-Identifier: BSD-3-Clause
// Tests of the group MAC addresses that addresses need.
#include "device/address_macs.h"

#include <gtest/gtest.h>

namespace uroce::device {
namespace {

constexpr MacAddress kAllSystems{{0x01, 0x00, 0x5e, 0, 0, 1}};
constexpr MacAddress kAllNodes{{0x33, 0x33, 0, 0, 0, 1}};

Gid ipv6(uint8_t net, uint8_t a, uint8_t b, uint8_t c) {
  return Gid{{0xfd, net, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c}};
}

TEST(AddressMacs, NoAddressNeedsNothing) { EXPECT_TRUE(macs_of_addresses({}).empty()); }

TEST(AddressMacs, AnIpv4AddressNeedsAllSystemsOnly) {
  const engine::LocalAddress addresses[] = {{Gid::from_ipv4(0x0A000001), 24},
                                            {Gid::from_ipv4(0x0A000002), 24}};
  EXPECT_EQ(macs_of_addresses(addresses), std::set{kAllSystems});
}

TEST(AddressMacs, AnIpv6AddressNeedsAllNodesAndItsSolicitedNodeGroup) {
  const engine::LocalAddress addresses[] = {
      {ipv6(0, 1, 2, 3), 64}, {ipv6(9, 1, 2, 3), 64}, {ipv6(0, 1, 2, 4), 64}};
  EXPECT_EQ(macs_of_addresses(addresses),
            (std::set{kAllNodes, MacAddress{{0x33, 0x33, 0xff, 1, 2, 3}},
                      MacAddress{{0x33, 0x33, 0xff, 1, 2, 4}}}));
}

}  // namespace
}  // namespace uroce::device
