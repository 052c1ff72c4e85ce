// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of a veth end: link, addresses, VLAN interfaces, next hops.
#include "nic/kernel_interface.h"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include <cerrno>
#include <chrono>

#include "nic/netns_test.h"

namespace uroce::nic {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class KernelInterfaceTest : public NetnsTest {
 protected:
  KernelInterfaceTest() { duplicate_detection_ = true; }
  std::unique_ptr<KernelInterface> opened(const char* name = "va") {
    auto interface = KernelInterface::open(index_of(name));
    EXPECT_TRUE(interface.ok());
    return *std::move(interface);
  }
  MacAddress mac_in_b() {
    enter_b();
    const MacAddress mac = opened("vb")->link()->mac;
    enter_a();
    return mac;
  }
};

TEST_F(KernelInterfaceTest, ReadsTheLinkAndSeesItGoDown) {
  const auto interface = opened();
  const auto link = interface->link();
  ASSERT_TRUE(link.ok()) << link.status();
  EXPECT_EQ(link->name, "va");
  EXPECT_EQ(link->mtu, 9000u);
  EXPECT_FALSE(link->mac.is_zero());
  EXPECT_TRUE(link->up);
  enter_b();
  run("ip link set vb down");
  enter_a();
  EXPECT_FALSE(interface->link()->up);
}

TEST_F(KernelInterfaceTest, ReadsAddressesIpv4First) {
  run("ip addr add fd00:9::1/64 dev va nodad");
  run("ip addr add 10.9.0.1/24 dev va");
  run("ip addr add 127.1.1.1/8 dev lo");
  const auto interface = opened();
  const auto addresses = interface->addresses();
  ASSERT_TRUE(addresses.ok());
  ASSERT_GE(addresses->size(), 2u);
  EXPECT_EQ((*addresses)[0].address, ipv4(10, 9, 0, 1));
  EXPECT_EQ((*addresses)[0].prefix_length, 24);
  bool has_ipv6 = false;
  for (const auto& address : *addresses) has_ipv6 |= address.address == ipv6(1);
  EXPECT_TRUE(has_ipv6);
  for (const auto& address : *addresses) EXPECT_NE(address.address, ipv4(127, 1, 1, 1));
}

TEST_F(KernelInterfaceTest, TentativeAddressIsSaidButNotListedUntilItIsOurs) {
  run("ip addr add fd00:9::1/64 dev va");
  const auto interface = opened();
  bool tentative = false;
  const auto listed = [&] {
    const auto addresses = interface->addresses(&tentative);
    for (const auto& address : *addresses) {
      if (address.address == ipv6(1)) return true;
    }
    return false;
  };
  EXPECT_FALSE(listed());
  EXPECT_TRUE(tentative);
  const auto deadline = steady_clock::now() + std::chrono::seconds(5);
  while (!listed() && steady_clock::now() < deadline) usleep(20'000);
  EXPECT_TRUE(listed());
}

TEST_F(KernelInterfaceTest, FindsTheVlanInterfaceAbove) {
  if (!has_vlan()) GTEST_SKIP() << "needs a kernel with VLAN interfaces";
  const auto interface = opened();
  EXPECT_EQ(interface->vlan_child(100), index_of("va.100"));
  EXPECT_EQ(interface->vlan_child(200), 0);
}

TEST_F(KernelInterfaceTest, ResolvesNeighboursOnLink) {
  addresses_on_both();
  const MacAddress wanted = mac_in_b();
  const auto interface = opened();
  MacAddress mac;
  EXPECT_EQ(interface->resolve(ipv4(10, 9, 0, 2), milliseconds(4000), mac), 0);
  EXPECT_EQ(mac, wanted);
  mac = {};
  EXPECT_EQ(interface->resolve(ipv6(2), milliseconds(4000), mac), 0);
  EXPECT_EQ(mac, wanted);
}

// case 77: fe80::2 is a neighbour behind va, another one behind vc, and an address of vd.
TEST_F(KernelInterfaceTest, ALinkLocalAddressIsThatOfTheInterfacesOwnLink) {
  enter_b();
  run("ip link add ve type veth peer name vc netns /proc/" + std::to_string(getpid()) + "/fd/" +
      std::to_string(a_.get()));
  run("ip link set ve up");
  for (const char* name : {"vb", "ve"}) {
    run(std::string("ip addr add fe80::2/64 nodad dev ") + name);
  }
  const MacAddress behind_va = opened("vb")->link()->mac;
  const MacAddress behind_vc = opened("ve")->link()->mac;
  enter_a();
  run("ip link set vc up");
  run("ip link add vd type veth peer name vg && ip link set vd up && ip link set vg up");
  run("ip addr add fe80::2/64 nodad dev vd");
  for (const char* name : {"va", "vc"}) {
    run(std::string("ip addr add fe80::1/64 nodad dev ") + name);
  }
  const Gid peer{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  MacAddress mac;
  EXPECT_EQ(opened("va")->resolve(peer, milliseconds(4000), mac), 0);
  EXPECT_EQ(mac, behind_va);
  EXPECT_EQ(opened("vc")->resolve(peer, milliseconds(4000), mac), 0);
  EXPECT_EQ(mac, behind_vc);
}

TEST_F(KernelInterfaceTest, ResolvesTheGatewayOfARoute) {
  addresses_on_both();
  run("ip route add 10.77.0.0/16 via 10.9.0.2");
  run("ip -6 route add fd77::/32 via fd00:9::2");
  const MacAddress wanted = mac_in_b();
  const auto interface = opened();
  MacAddress mac;
  EXPECT_EQ(interface->resolve(ipv4(10, 77, 1, 1), milliseconds(4000), mac), 0);
  EXPECT_EQ(mac, wanted);
  mac = {};
  Gid far;
  far.bytes = {0xfd, 0x77, 0, 0, 1};
  EXPECT_EQ(interface->resolve(far, milliseconds(4000), mac), 0);
  EXPECT_EQ(mac, wanted);
}

TEST_F(KernelInterfaceTest, NoRouteIsUnreachableAtOnce) {
  addresses_on_both();
  const auto interface = opened();
  MacAddress mac;
  const auto begin = steady_clock::now();
  EXPECT_EQ(interface->resolve(ipv4(192, 0, 2, 1), milliseconds(2000), mac), -EHOSTUNREACH);
  Gid far;
  far.bytes = {0x20, 0x01, 0x0d, 0xb8};
  EXPECT_EQ(interface->resolve(far, milliseconds(2000), mac), -EHOSTUNREACH);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1000));
}

TEST_F(KernelInterfaceTest, SilentNeighbourTimesOutWithinTheLimit) {
  addresses_on_both();
  const auto interface = opened();
  MacAddress mac;
  const auto begin = steady_clock::now();
  EXPECT_EQ(interface->resolve(ipv4(10, 9, 0, 77), milliseconds(100), mac), -ETIMEDOUT);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(100));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1000));
}

TEST_F(KernelInterfaceTest, OwnAddressIsOurOwnMacAndAGroupIsNoNeighbour) {
  addresses_on_both();
  const auto interface = opened();
  MacAddress mac;
  EXPECT_EQ(interface->resolve(ipv4(10, 9, 0, 1), milliseconds(0), mac), 0);
  EXPECT_EQ(mac, interface->link()->mac);
  EXPECT_EQ(interface->resolve(ipv4(224, 1, 1, 1), milliseconds(0), mac), -EINVAL);
}

TEST_F(KernelInterfaceTest, ResolvesWithoutThePrivilegeToChangeTheTable) {
  addresses_on_both();
  const MacAddress wanted = mac_in_b();
  const auto interface = opened();
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct before[2];
  ASSERT_EQ(syscall(SYS_capget, &header, before), 0);
  __user_cap_data_struct less[2] = {before[0], before[1]};
  less[0].effective &= ~(1u << CAP_NET_ADMIN);
  ASSERT_EQ(syscall(SYS_capset, &header, less), 0);
  MacAddress mac;
  const int on_ipv4 = interface->resolve(ipv4(10, 9, 0, 2), milliseconds(2000), mac);
  const int on_ipv6 = interface->resolve(ipv6(2), milliseconds(2000), mac);
  ASSERT_EQ(syscall(SYS_capset, &header, before), 0);
  EXPECT_EQ(on_ipv4, 0);
  EXPECT_EQ(on_ipv6, 0);
  EXPECT_EQ(mac, wanted);
}

// The second question of a resolution, half a second after the first, is the one that helps here.
TEST_F(KernelInterfaceTest, GoesOnAskingOverManyShortWaits) {
  run("sysctl -qw net.ipv6.conf.va.addr_gen_mode=1");
  addresses_on_both();
  run("ip -6 addr flush dev va scope link");
  const MacAddress wanted = mac_in_b();
  const auto interface = opened();
  MacAddress mac;
  const auto deadline = steady_clock::now() + milliseconds(4000);
  int result = -ETIMEDOUT;
  while (result == -ETIMEDOUT && steady_clock::now() < deadline) {
    result = interface->resolve(ipv6(2), milliseconds(5), mac);
  }
  EXPECT_EQ(result, 0);
  EXPECT_EQ(mac, wanted);
}

TEST(GidText, PrintsBothFamilies) {
  EXPECT_EQ(gid_text(ipv4(10, 9, 0, 1)), "10.9.0.1");
  EXPECT_EQ(gid_text(ipv6(1)), "fd00:9::1");
}

}  // namespace
}  // namespace uroce::nic
