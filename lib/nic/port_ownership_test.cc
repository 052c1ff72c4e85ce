// SPDX-License-Identifier: BSD-3-Clause
// net_af_packet ports on a veth pair: own and shared, refusals, large frames, groups, closing.
#include <gmock/gmock.h>
#include <rte_bus_vdev.h>

#include <cerrno>

#include "base/last_error.h"
#include "nic/netns_test.h"
#include "nic/nic_test_ports.h"
#include "nic/port.h"

namespace uroce::nic {
namespace {

using device::FilterKind;
using device::PortOwnership;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFrames[] = ",framesz=8192,blocksz=8192,framecnt=64";

class AfPacketTest : public NetnsTest {
 protected:
  void TearDown() override {
    for (auto* port : {&a, &b}) {
      if (*port == nullptr) continue;
      EXPECT_TRUE((*port)->close().ok());
    }
    rte_vdev_uninit("net_af_packet0");
    rte_vdev_uninit("net_af_packet1");
    NetnsTest::TearDown();
  }
  // In the namespace that is entered.
  static void make(int number, const std::string& interface, const std::string& more = kFrames) {
    const std::string name = "net_af_packet" + std::to_string(number);
    ASSERT_EQ(rte_vdev_init(name.c_str(), ("iface=" + interface + more).c_str()), 0);
  }
  static PortConfig config(int number) {
    PortConfig result{.name = "net_af_packet" + std::to_string(number), .frames_held_max = 64};
    result.log = [](const std::string& line) { test_log().push_back(line); };
    return result;
  }
  static std::unique_ptr<Port> opened(const PortConfig& wanted) {
    auto port = Port::open(wanted);
    EXPECT_TRUE(port.ok()) << port.status();
    return port.ok() ? *std::move(port) : nullptr;
  }
  static std::string refusal(const PortConfig& wanted) {
    auto port = Port::open(wanted);
    return port.ok() ? "opened" : std::string(port.status().message());
  }
  static void no_ipv6(const std::string& interface) {
    run("sysctl -qw net.ipv6.conf." + interface + ".disable_ipv6=1");
  }
  // A port on each end without kernel addresses. Both kernels are silenced before a port listens:
  // an MLD report on its way would be the first frame that it sees.
  void own_on_both() {
    no_ipv6("va");
    enter_b();
    no_ipv6("vb");
    enter_a();
    make(0, "va");
    a = opened(config(0));
    enter_b();
    make(1, "vb");
    b = opened(config(1));
    enter_a();
    ASSERT_TRUE(a != nullptr && b != nullptr);
  }
  // Frames arrive by the kernel's softirq: asks until one is there.
  static std::vector<int> wait_tags(Queue& queue) {
    for (int i = 0; i < 1000; ++i) {
      std::vector<int> tags = receive_tags(queue);
      if (!tags.empty()) return tags;
      usleep(1'000);
    }
    return {};
  }
  static void send_to(Port& from, const MacAddress& to, uint8_t tag, uint32_t length) {
    const std::span<TxSlot> slots = from.queue(0).lend();
    ASSERT_FALSE(slots.empty());
    fill(slots[0], tag, length);
    const MacAddress mac = from.info().mac;
    std::copy(to.bytes.begin(), to.bytes.end(), slots[0].room);
    std::copy(mac.bytes.begin(), mac.bytes.end(), slots[0].room + 6);
    from.queue(0).submit(1);
  }

  std::unique_ptr<Port> a;
  std::unique_ptr<Port> b;
};

TEST_F(AfPacketTest, EndWithoutAddressesIsOwn) {
  own_on_both();
  const device::PortInfo info = a->info();
  EXPECT_EQ(info.ownership, PortOwnership::kOwn);
  EXPECT_EQ(info.filter, FilterKind::kKernelMembership);
  EXPECT_EQ(info.kernel_if_index, index_of("va"));
  EXPECT_EQ(info.frame_bytes_max, 8192u - 66);
  EXPECT_TRUE(info.link_up);
  EXPECT_EQ(a->set_group_filter(ipv4(239, 1, 2, 3), kEverySource), -ENOTSUP);
  enter_b();
  run("ip link set vb down");
  enter_a();
  EXPECT_FALSE(a->info().link_up);
}

TEST_F(AfPacketTest, ALinkThatWentAndCameIsCounted) {
  own_on_both();
  const uint32_t before = a->info().link_changes;
  enter_b();
  run("ip link set vb down");
  run("ip link set vb up");
  enter_a();
  EXPECT_EQ(a->info().link_changes, before + 2);
}

TEST_F(AfPacketTest, OwnEndsCarryPathMtu4096BothWays) {
  own_on_both();
  send_to(*a, b->info().mac, 7, 4096 + 84 + 4 + 14);
  EXPECT_EQ(wait_tags(b->queue(0)), std::vector<int>{7});
  send_to(*b, a->info().mac, 8, 4096 + 84 + 4 + 14);
  EXPECT_EQ(wait_tags(a->queue(0)), std::vector<int>{8});
}

TEST_F(AfPacketTest, LargestFrameOfThePortArrivesWhole) {
  own_on_both();
  const uint32_t largest = a->info().frame_bytes_max;
  send_to(*a, b->info().mac, 9, largest);
  std::vector<RxFrame> frames(kBurst);
  uint32_t count = 0;
  for (int i = 0; i < 1000 && count == 0; ++i) {
    count = b->queue(0).receive(Time{}, frames);
    if (count == 0) usleep(1'000);
  }
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(frames[0].length, largest);
  EXPECT_EQ(frames[0].udp_checksum, ChecksumVerdict::kIgnore);
  b->queue(0).release({frames.data(), 1});
}

TEST_F(AfPacketTest, AnMtuThatGoesDownIsToldOnceAndLongerFramesAreDroppedAndCounted) {
  own_on_both();
  const uint32_t before = a->info().frame_bytes_max;
  test_log().clear();
  run("ip link set va mtu 1500");
  EXPECT_EQ(a->info().frame_bytes_max, 1514u);
  EXPECT_EQ(a->info().frame_bytes_max, 1514u);
  ASSERT_EQ(test_log().size(), 1u);
  EXPECT_THAT(test_log()[0],
              AllOf(HasSubstr("interface va has MTU 1500"), HasSubstr("ip link set va mtu 8112")));
  send_to(*a, b->info().mac, 5, 1515);
  send_to(*a, b->info().mac, 6, 1514);
  EXPECT_EQ(wait_tags(b->queue(0)), std::vector<int>{6});
  EXPECT_EQ(a->queue(0).counters().tx_too_long.value(), 1u);
  run("ip link set va mtu 9000");
  EXPECT_EQ(a->info().frame_bytes_max, before);
  send_to(*a, b->info().mac, 7, 1515);
  EXPECT_EQ(wait_tags(b->queue(0)), std::vector<int>{7});
  EXPECT_EQ(a->queue(0).counters().tx_too_long.value(), 1u);
  EXPECT_EQ(test_log().size(), 1u);
}

TEST_F(AfPacketTest, OwnFilterComesAndGoesInIpMaddr) {
  own_on_both();
  const MacAddress group{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}};
  EXPECT_EQ(a->set_multicast_macs(std::span(&group, 1)), 0);
  EXPECT_THAT(output("ip maddr show dev va"),
              AllOf(HasSubstr("01:00:5e:01:02:03"), Not(HasSubstr("239.1.2.3"))));
  send_to(*b, group, 5, 100);
  EXPECT_EQ(wait_tags(a->queue(0)), std::vector<int>{5});
  EXPECT_EQ(a->set_multicast_macs({}), 0);
  EXPECT_THAT(output("ip maddr show dev va"), Not(HasSubstr("01:00:5e:01:02:03")));
  EXPECT_EQ(a->set_multicast_macs(std::span(&group, 1)), 0);
  EXPECT_TRUE(a->close().ok());
  EXPECT_THAT(output("ip maddr show dev va"), Not(HasSubstr("01:00:5e:01:02:03")));
}

TEST_F(AfPacketTest, WhatTheKernelSendsHereIsNotReceived) {
  addresses_on_both();
  make(0, "va");
  a = opened(config(0));
  ASSERT_NE(a, nullptr);
  run("ping -c 2 -i 0.05 -W 1 -q 10.9.0.2 >/dev/null");
  const MacAddress mac = a->info().mac;
  uint32_t from_peer = 0;
  std::vector<RxFrame> frames(kBurst);
  for (int i = 0; i < 50; ++i) {
    const uint32_t count = a->queue(0).receive(Time{}, frames);
    for (uint32_t j = 0; j < count; ++j) {
      EXPECT_NE(std::memcmp(frames[j].bytes + 6, mac.bytes.data(), 6), 0);
      ++from_peer;
    }
    a->queue(0).release({frames.data(), count});
    if (from_peer >= 2) break;
    usleep(10'000);
  }
  EXPECT_GE(from_peer, 2u);
  EXPECT_GE(a->queue(0).counters().rx_own_source_mac.value(), 2u);
}

TEST_F(AfPacketTest, EndWithKernelAddressesIsSharedAndAdoptsThem) {
  addresses_on_both();
  make(0, "va");
  a = opened(config(0));
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->info().ownership, PortOwnership::kShared);
  EXPECT_EQ(a->info().filter, FilterKind::kKernelGroup);
  const auto addresses = a->addresses();
  ASSERT_GE(addresses.size(), 3u);  // and the link-local one
  EXPECT_EQ(addresses[0].address, ipv4(10, 9, 0, 1));
  EXPECT_THAT(output("ss -Huln"), HasSubstr("10.9.0.1:4791"));
  EXPECT_EQ(a->set_group_filter(ipv4(239, 1, 2, 3), kEverySource), 0);
  EXPECT_THAT(output("ip maddr show dev va"), HasSubstr("239.1.2.3"));
  EXPECT_EQ(a->set_multicast_macs({}), -ENOTSUP);
  MacAddress mac;
  EXPECT_EQ(a->resolve(ipv4(10, 9, 0, 2), std::chrono::seconds(2), mac), 0);
  EXPECT_TRUE(a->close().ok());
  EXPECT_THAT(output("ip maddr show dev va"), Not(HasSubstr("239.1.2.3")));
  EXPECT_THAT(output("ss -Huln"), Not(HasSubstr("4791")));
}

TEST_F(AfPacketTest, AGroupThatTheKernelRefusesHasItsSentence) {
  addresses_on_both();
  make(0, "va");
  a = opened(config(0));
  ASSERT_NE(a, nullptr);
  run("sysctl -qw net.ipv4.igmp_max_memberships=0");
  EXPECT_EQ(a->set_group_filter(ipv4(239, 1, 2, 3), kEverySource), -ENOBUFS);
  EXPECT_THAT(last_error(), AllOf(HasSubstr("port " + a->info().name + ": group 239.1.2.3: "),
                                  HasSubstr("raise sysctl net.ipv4.igmp_max_memberships")));
}

TEST_F(AfPacketTest, SharedPortFollowsTheKernelsAddresses) {
  addresses_on_both();
  make(0, "va");
  a = opened(config(0));
  ASSERT_NE(a, nullptr);
  const size_t before = a->addresses().size();
  run("ip addr add 10.9.0.11/24 dev va");
  EXPECT_EQ(a->addresses().size(), before + 1);
  EXPECT_THAT(output("ss -Huln"), HasSubstr("10.9.0.11:4791"));
  run("ip addr del 10.9.0.11/24 dev va");
  EXPECT_EQ(a->addresses().size(), before);
  EXPECT_THAT(output("ss -Huln"), Not(HasSubstr("10.9.0.11:4791")));
}

TEST_F(AfPacketTest, SharedPortUsesOnlyTheAddressesOfTheConfiguration) {
  addresses_on_both();
  make(0, "va");
  PortConfig wanted = config(0);
  wanted.addresses = {{ipv4(10, 9, 0, 1), 24}};
  a = opened(wanted);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->addresses().size(), 1u);
  EXPECT_THAT(output("ss -Huln"), Not(HasSubstr("fd00:9::1")));
}

TEST_F(AfPacketTest, SharedVlanIsTheKernelsVlanInterface) {
  no_ipv6("va");
  if (!has_vlan()) GTEST_SKIP() << "needs a kernel with VLAN interfaces";
  run("ip link set va.100 up mtu 4200");
  run("ip addr add 10.100.0.1/24 dev va.100");
  make(0, "va");
  PortConfig wanted = config(0);
  wanted.vlan_id = 100;
  a = opened(wanted);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->info().ownership, PortOwnership::kShared);
  EXPECT_EQ(a->info().frame_bytes_max, 4214u);
  ASSERT_FALSE(a->addresses().empty());
  EXPECT_EQ(a->addresses()[0].address, ipv4(10, 100, 0, 1));
  EXPECT_EQ(a->set_group_filter(ipv4(239, 1, 2, 3), kEverySource), 0);
  EXPECT_THAT(output("ip maddr show dev va"), HasSubstr("01:00:5e:01:02:03"));
}

TEST_F(AfPacketTest, RefusalsNameTheThingAndTheCure) {
  addresses_on_both();
  make(0, "va");
  PortConfig wanted = config(0);
  wanted.addresses = {{ipv4(10, 9, 0, 1), 24}, {ipv4(10, 9, 0, 7), 24}};
  for (const OwnershipWish wish : {OwnershipWish::kAuto, OwnershipWish::kShared}) {
    wanted.ownership = wish;
    EXPECT_THAT(refusal(wanted),
                AllOf(HasSubstr("address 10.9.0.7 is not on interface va"),
                      HasSubstr("10.9.0.1/24"), HasSubstr("ip addr add 10.9.0.7/24 dev va"),
                      HasSubstr("or make it an own port"), Not(HasSubstr("\n"))));
  }
  wanted = config(0);
  wanted.igmp_version = 2;
  EXPECT_THAT(refusal(wanted), HasSubstr("leave out igmp and mld, or make it an own port"));
  wanted = config(0);
  wanted.queue_count = 2;
  EXPECT_THAT(refusal(wanted), HasSubstr("give 1 queues or qpairs=2"));
  wanted = config(0);
  wanted.mtu = 9200;
  EXPECT_THAT(refusal(wanted), HasSubstr("ip link set va mtu 9200"));
  run("ip addr flush dev va");
  wanted = config(0);
  wanted.ownership = OwnershipWish::kShared;
  EXPECT_THAT(refusal(wanted), HasSubstr("interface va has no address to share: ip addr add "
                                         "ADDRESS dev va"));
  wanted.addresses = {{ipv4(10, 9, 0, 7), 24}};
  EXPECT_THAT(refusal(wanted), HasSubstr("ip addr add 10.9.0.7/24 dev va"));
  run("ip link set va mtu 300");
  EXPECT_THAT(refusal(config(0)), HasSubstr("ip link set va mtu 340"));
}

TEST_F(AfPacketTest, SecondStackOnTheAddressIsRefused) {
  addresses_on_both();
  PortGuard other(index_of("va"));
  const Gid address[] = {ipv4(10, 9, 0, 1)};
  ASSERT_TRUE(other.hold(address).ok());
  make(0, "va");
  EXPECT_THAT(refusal(config(0)), AllOf(HasSubstr("port net_af_packet0"), HasSubstr("10.9.0.1"),
                                        HasSubstr("another RoCEv2 stack")));
}

TEST_F(AfPacketTest, OwnByWishOnAnAddressedInterfaceWarns) {
  addresses_on_both();
  make(0, "va");
  PortConfig wanted = config(0);
  wanted.ownership = OwnershipWish::kOwn;
  wanted.addresses = {{ipv4(10, 9, 0, 50), 24}};
  test_log().clear();
  a = opened(wanted);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->info().ownership, PortOwnership::kOwn);
  ASSERT_EQ(test_log().size(), 1u + 1u);  // and the ring frame is smaller than the MTU
  EXPECT_THAT(test_log()[0], HasSubstr("kernel answers beside us"));
  EXPECT_THAT(test_log()[1], HasSubstr("framesz=16384"));
}

TEST_F(AfPacketTest, NoPromiscuousModeUnlessAsked) {
  own_on_both();
  const MacAddress group{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}};
  EXPECT_EQ(a->set_multicast_macs(std::span(&group, 1)), 0);
  EXPECT_THAT(output("ip -d link show va"),
              AllOf(HasSubstr("promiscuity 0"), HasSubstr("allmulti 0")));
  EXPECT_TRUE(a->close().ok());
  a.reset();
  rte_vdev_uninit("net_af_packet0");
  make(0, "va");
  PortConfig wanted = config(0);
  wanted.promiscuous = true;
  a = opened(wanted);
  ASSERT_NE(a, nullptr);
  EXPECT_THAT(output("ip -d link show va"), HasSubstr("promiscuity 1"));
}

}  // namespace
}  // namespace uroce::nic
