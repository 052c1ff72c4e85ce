// SPDX-License-Identifier: BSD-3-Clause
// Where packets go next, and which settings are refused.
#include "neigh/next_hop.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"

namespace uroce::neigh {
namespace {

NextHop hops(const char* gateway4 = nullptr, const char* gateway6 = nullptr) {
  NextHop next_hop;
  const std::vector<OwnAddress> own = {
      {gid("10.1.2.3"), 20}, {gid("fd00:1::5"), 65}, {gid("192.168.7.1"), 32}};
  EXPECT_TRUE(next_hop.set(own, gateway4 == nullptr ? Gid{} : gid(gateway4),
                           gateway6 == nullptr ? Gid{} : gid(gateway6)));
  return next_hop;
}

TEST(NextHop, DestinationUnderAPrefixIsItsOwnNextHop) {
  const NextHop h = hops();
  for (const char* text : {"10.1.0.1", "10.1.15.254", "fd00:1::7fff:ffff:ffff:ffff", "fe80::9"}) {
    Gid next;
    EXPECT_EQ(h.route(gid(text), next), HopKind::kOnLink) << text;
    EXPECT_EQ(next, gid(text));
  }
  Gid next;
  EXPECT_EQ(h.route(gid("10.1.16.1"), next), HopKind::kNoRoute);
  EXPECT_EQ(h.route(gid("fd00:1:0:0:8000::1"), next), HopKind::kNoRoute);
  EXPECT_EQ(h.route(gid("192.168.7.2"), next), HopKind::kNoRoute);
}

TEST(NextHop, TheRestGoesToTheGatewayOfItsFamily) {
  const NextHop h = hops("10.1.0.254", "fe80::1");
  Gid next;
  EXPECT_EQ(h.route(gid("8.8.8.8"), next), HopKind::kGateway);
  EXPECT_EQ(next, gid("10.1.0.254"));
  EXPECT_EQ(h.route(gid("2001:db8::1"), next), HopKind::kGateway);
  EXPECT_EQ(next, gid("fe80::1"));
  EXPECT_EQ(hops("10.1.0.254").route(gid("2001:db8::1"), next), HopKind::kNoRoute);
}

TEST(NextHop, OwnAddressesAndGroupsAreKnownAsSuch_Case59) {
  const NextHop h = hops();
  Gid next;
  EXPECT_EQ(h.route(gid("10.1.2.3"), next), HopKind::kOwn);
  EXPECT_EQ(h.route(gid("fd00:1::5"), next), HopKind::kOwn);
  EXPECT_EQ(h.route(gid("239.1.2.3"), next), HopKind::kMulticast);
  EXPECT_EQ(h.route(gid("ff1e::1"), next), HopKind::kMulticast);
}

TEST(NextHop, NoPacketGoesToBroadcastLoopbackOrNowhere) {
  const NextHop h = hops("10.1.0.254", "fe80::1");
  Gid next;
  for (const char* text :
       {"10.1.15.255", "255.255.255.255", "240.0.0.1", "127.0.0.1", "0.0.0.0", "::", "::1"}) {
    EXPECT_EQ(h.route(gid(text), next), HopKind::kNoRoute) << text;
  }
}

TEST(NextHop, PointToPointSubnetHasNoBroadcastAddress) {
  NextHop h;
  const OwnAddress own{gid("10.9.0.0"), 31};
  ASSERT_TRUE(h.set({&own, 1}, {}, {}));
  Gid next;
  EXPECT_EQ(h.route(gid("10.9.0.1"), next), HopKind::kOnLink);
}

TEST(NextHop, AsksANeighbourFromTheAddressOnItsSubnet) {
  const NextHop h = hops("10.1.0.254");
  EXPECT_EQ(h.source_for(gid("10.1.0.254")), gid("10.1.2.3"));
  EXPECT_EQ(h.source_for(gid("192.168.7.9")), gid("10.1.2.3"));
  EXPECT_EQ(h.source_for(gid("fe80::2")), gid("fd00:1::5"));
  EXPECT_EQ(NextHop().source_for(gid("fe80::2")), Gid{});
}

TEST(NextHop, WithoutAnAddressOfTheFamilyThereIsNoRoute) {
  NextHop h;
  const OwnAddress own{gid("10.0.0.1"), 8};
  ASSERT_TRUE(h.set({&own, 1}, Gid{}, gid("fe80::1")));
  Gid next;
  EXPECT_EQ(h.route(gid("fe80::2"), next), HopKind::kNoRoute);
  EXPECT_EQ(h.route(gid("2001:db8::1"), next), HopKind::kNoRoute);
}

TEST(NextHop, RefusesWhatCannotBeAndKeepsWhatItHad) {
  NextHop h = hops();
  const auto refuses = [&](const OwnAddress& own, const Gid& g4, const Gid& g6) {
    return !h.set({&own, 1}, g4, g6) && h.addresses().size() == 3 && h.is_own(gid("10.1.2.3"));
  };
  const OwnAddress good{gid("10.0.0.1"), 8};
  EXPECT_TRUE(refuses({gid("10.0.0.1"), 33}, {}, {}));
  EXPECT_TRUE(refuses({gid("fd00::1"), 129}, {}, {}));
  EXPECT_TRUE(refuses({gid("239.0.0.1"), 8}, {}, {}));
  EXPECT_TRUE(refuses({gid("0.0.0.0"), 8}, {}, {}));
  EXPECT_TRUE(refuses({Gid{}, 64}, {}, {}));
  EXPECT_TRUE(refuses(good, gid("fe80::1"), {}));
  EXPECT_TRUE(refuses(good, {}, gid("10.0.0.254")));
  EXPECT_TRUE(refuses(good, gid("0.0.0.0"), {}));
  EXPECT_TRUE(refuses(good, {}, gid("ff02::2")));
  EXPECT_FALSE(h.set(std::vector<OwnAddress>(NextHop::kAddressesMax + 1, good), {}, {}));
  EXPECT_TRUE(h.set(std::vector<OwnAddress>(NextHop::kAddressesMax, good), {}, {}));
}

}  // namespace
}  // namespace uroce::neigh
