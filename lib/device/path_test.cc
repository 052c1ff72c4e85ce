// SPDX-License-Identifier: BSD-3-Clause
// Tests of the way from address attributes to a header template, and of the path MTU of a port.
#include "device/path.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "device/device_fixture.h"
#include "device/flow_label.h"
#include "device/port_mtu.h"

namespace uroce::device {
namespace {

const Gid kPeer6{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};

class Path : public testing::Test {
 protected:
  Path() : gids_(8) {
    const PortAddress addresses[] = {{kTestIpv4, 24}, {kTestIpv6, 64}};
    gids_.update(kTestMac, addresses);
  }
  int check(const AhAttributes& attributes) {
    Gid sgid;
    return check_path(attributes, gids_, sgid);
  }
  GidTable gids_;
};

// AH-01, AH-02, AH-03, AH-05; cases 59.
TEST_F(Path, WrongAttributesAreRefusedAtOnce) {
  EXPECT_EQ(check(path_to(kTestPeer, 1)), 0);
  EXPECT_EQ(check(path_to(kPeer6, 2)), 0);
  AhAttributes wrong = path_to(kTestPeer, 1);
  wrong.port = 0;
  EXPECT_EQ(check(wrong), -EINVAL);
  wrong.port = 2;
  EXPECT_EQ(check(wrong), -EINVAL);
  wrong = path_to(kTestPeer, 1);
  wrong.global = false;
  EXPECT_EQ(check(wrong), -EINVAL);
  wrong = path_to(kTestPeer, 1);
  wrong.sl = 8;
  EXPECT_EQ(check(wrong), -EINVAL);
  EXPECT_EQ(check(path_to(kTestPeer, 8)), -EINVAL) << "outside the table";
  EXPECT_EQ(check(path_to(kTestPeer, 3)), -ENODATA) << "an empty entry";
  EXPECT_EQ(check(path_to(kPeer6, 1)), -EINVAL) << "IPv6 from an IPv4 address";
  EXPECT_EQ(check(path_to(kTestPeer, 0)), -EINVAL) << "IPv4 from an IPv6 address";
  EXPECT_EQ(check(path_to(Gid{}, 0)), -EINVAL);
}

TEST_F(Path, AnEmptyEntryIsFoundBeforeADestinationIsJudged) {
  EXPECT_EQ(check(path_to(Gid{}, 3)), -ENODATA);
}

// AH-10, AH-11, AH-12, AH-13; cases 59.
TEST_F(Path, GroupsAndOwnAddressesNeedNoAsking) {
  EXPECT_EQ(known_mac(Gid::from_ipv4(0xEF010203), gids_, kTestMac),
            (MacAddress{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}}));
  EXPECT_EQ(known_mac(Gid::from_ipv4(0xEF810203), gids_, kTestMac),
            (MacAddress{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}}));
  const Gid group6{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2}};
  EXPECT_EQ(known_mac(group6, gids_, kTestMac), (MacAddress{{0x33, 0x33, 0, 1, 0, 2}}));
  EXPECT_EQ(known_mac(kTestIpv4, gids_, kTestMac), kTestMac);
  EXPECT_EQ(known_mac(link_local_gid(kTestMac), gids_, kTestMac), kTestMac);
  EXPECT_FALSE(known_mac(kTestPeer, gids_, kTestMac));
  EXPECT_FALSE(known_mac(link_local_gid({{2, 0, 0, 0, 0, 9}}), gids_, kTestMac))
      << "a link-local address of a RoCEv2 peer is asked for, not computed";
}

// Cases 76, 89.
TEST_F(Path, TrafficClassHopLimitAndVlanPriorityReachTheHeaders) {
  AhAttributes attributes = path_to(kTestPeer, 1);
  attributes.traffic_class = 106;
  attributes.hop_limit = 7;
  attributes.sl = 5;
  const MacAddress peer{{2, 0, 0, 0, 0, 2}};
  const auto vector = make_address_vector(
      attributes, {.sgid = kTestIpv4, .source = kTestMac, .destination = peer, .vlan_id = 42});
  const uint8_t* bytes = vector.headers.bytes;
  EXPECT_EQ(vector.headers.length, 14 + 4 + 20 + 8);
  EXPECT_EQ(std::memcmp(bytes, peer.bytes.data(), 6), 0);
  EXPECT_EQ(bytes[12], 0x81);
  EXPECT_EQ(bytes[14] << 8 | bytes[15], 5 << 13 | 42);
  EXPECT_EQ(bytes[18 + 1], 106);
  EXPECT_EQ(bytes[18 + 8], 7);
  EXPECT_EQ(vector.route, Route::kWire);
}

TEST_F(Path, AHopLimitOfZeroMeansTheDefault) {
  const auto vector = make_address_vector(path_to(kPeer6, 2), {.sgid = kTestIpv6});
  EXPECT_EQ(vector.headers.bytes[14 + 7], kDefaultHopLimit);
}

TEST_F(Path, TheRouteFollowsFromTheDestination) {
  const auto own =
      make_address_vector(path_to(kTestIpv4, 1), {.sgid = kTestIpv4, .own_address = true});
  EXPECT_EQ(own.route, Route::kLocal);
  const auto group =
      make_address_vector(path_to(Gid::from_ipv4(0xEF010203), 1), {.sgid = kTestIpv4});
  EXPECT_EQ(group.route, Route::kBoth);
  EXPECT_TRUE(group.multicast);
}

TEST_F(Path, TheSourcePortIsThatOfTheLabelOrOfTheQpns) {
  AhAttributes attributes = path_to(kPeer6, 2);
  auto vector = make_address_vector(attributes, {.sgid = kTestIpv6});
  set_source_port(vector, 0x11, 0x12);
  const uint8_t* port = vector.headers.bytes + 14 + 40;
  EXPECT_EQ(port[0] << 8 | port[1], 0xC132);
  attributes.flow_label = 0x12345;
  vector = make_address_vector(attributes, {.sgid = kTestIpv6});
  set_source_port(vector, 0x11, 0x12);
  EXPECT_EQ(vector.headers.bytes[54] << 8 | vector.headers.bytes[55], 0xE341);
}

// Case 76; MT-10 … MT-13 with the reserve of the port contract (84 bytes and the Ethernet header).
TEST(PortMtu, IsTheLargestWhosePacketsAlwaysFit) {
  EXPECT_EQ(path_mtu_for_frame(1514), PathMtu::k1024);
  EXPECT_EQ(path_mtu_for_frame(9014), PathMtu::k4096);
  EXPECT_EQ(path_mtu_for_frame(4096 + 98), PathMtu::k4096);
  EXPECT_EQ(path_mtu_for_frame(4096 + 97), PathMtu::k2048);
  EXPECT_EQ(path_mtu_for_frame(256 + 98), PathMtu::k256);
  EXPECT_FALSE(path_mtu_for_frame(256 + 97));
}

}  // namespace
}  // namespace uroce::device
