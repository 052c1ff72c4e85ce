// SPDX-License-Identifier: BSD-3-Clause
// Addresses that come and go are seen once each.
#include "nic/address_watch.h"

#include "nic/netns_test.h"

namespace uroce::nic {
namespace {

using AddressWatchTest = NetnsTest;

TEST_F(AddressWatchTest, EachChangeIsToldOnce) {
  addresses_on_both();
  AddressWatch watch(index_of("va"));
  EXPECT_FALSE(watch.changed());
  run("ip addr add 10.9.0.11/24 dev va");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
  run("ip addr del fd00:9::1/64 dev va");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
  run("ip link del va");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST_F(AddressWatchTest, AnotherInterfacesAddressesAreNoneOfItsBusiness) {
  AddressWatch watch(index_of("va"));
  run("ip addr add 10.9.1.1/24 dev lo");
  EXPECT_FALSE(watch.changed());
}

TEST_F(AddressWatchTest, WithoutAnInterfaceNothingChanges) {
  AddressWatch watch(0);
  run("ip addr add 10.9.0.11/24 dev va");
  EXPECT_FALSE(watch.changed());
}

}  // namespace
}  // namespace uroce::nic
