// SPDX-License-Identifier: BSD-3-Clause
// The host stack as a whole: two of them on a wire, and what each answers to whom.
#include "neigh/host_stack.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"

namespace uroce::neigh {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Drop;

class HostStackTest : public testing::Test {
 protected:
  HostStackTest() { EXPECT_TRUE(stack_.set_addresses(kOurAddresses, {}, {})); }

  static HostStackConfig config(const MacAddress& mac, uint16_t vlan_id = 0) {
    HostStackConfig c;
    c.mac = mac;
    c.vlan_id = vlan_id;
    c.neighbors_max = 64;
    c.seed = 1;
    return c;
  }
  static Drop give(HostStack& stack, Time now, Bytes frame) {
    const Classified c(std::move(frame));
    return stack.handle_frame(now, c.bytes, c.info, c.options);
  }
  Drop give(Bytes frame) { return give(stack_, kStart, std::move(frame)); }

  static std::vector<Bytes> frames_of(HostStack& stack, Time now) {
    std::vector<Bytes> frames;
    Bytes room(2048);
    TxSlot slot;
    slot.room = room.data();
    slot.capacity = static_cast<uint32_t>(room.size());
    while (stack.poll_frame(now, slot)) {
      frames.emplace_back(room.begin(), room.begin() + slot.length);
    }
    return frames;
  }
  size_t frames(Time now = kStart) { return frames_of(stack_, now).size(); }

  HostStack stack_{config(kOurMac)};
  MacAddress mac_{};
};

TEST_F(HostStackTest, AnswersExactlyOnceForOurAddressesAndNeverForOthers) {
  for (Bytes asked :
       {arp_request(kOurIpv4), solicitation(kOurIpv6), ping(kOurIpv4, 56), ping(kOurIpv6, 56)}) {
    EXPECT_EQ(give(asked), Drop::kNone);
    EXPECT_LE(stack_.poll_timeout(), kStart);
    EXPECT_EQ(frames(), 1u);
    EXPECT_EQ(stack_.poll_timeout(), kNever);
  }
  for (Bytes asked : {arp_request(gid("198.18.0.9")), solicitation(gid("fd00:c612::9")),
                      ping(gid("198.18.0.9"), 56), ping(gid("fd00:c612::9"), 56)}) {
    EXPECT_EQ(give(asked), Drop::kNotForUs);
    EXPECT_EQ(frames(), 0u);
  }
}

// On a shared medium a port may see what it sent itself.
TEST_F(HostStackTest, OurOwnFrameSeenAgainIsIgnored) {
  EXPECT_EQ(give(arp_request(kOurIpv4, kOurMac, kPeerIpv4)), Drop::kOwnSourceMac);
  EXPECT_EQ(frames(), 0u);
  EXPECT_EQ(stack_.counters().address_conflicts.value(), 0u);
}

// case 59: own address and group succeed at once, without a frame.
TEST_F(HostStackTest, OwnAddressAndGroupAreResolvedWithoutAsking_Case59) {
  EXPECT_EQ(stack_.resolve(kStart, kOurIpv4, mac_), Resolution::kResolved);
  EXPECT_EQ(mac_, kOurMac);
  EXPECT_EQ(stack_.resolve(kStart, gid("239.1.2.3"), mac_), Resolution::kResolved);
  EXPECT_EQ(mac_, (MacAddress{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}}));
  EXPECT_EQ(stack_.resolve(kStart, gid("ff1e::1:2"), mac_), Resolution::kResolved);
  EXPECT_EQ(mac_, (MacAddress{{0x33, 0x33, 0x00, 0x01, 0x00, 0x02}}));
  EXPECT_EQ(frames(), 0u);
}

TEST_F(HostStackTest, NoRouteIsSaidAtOnce_Case59) {
  EXPECT_EQ(stack_.resolve(kStart, gid("10.0.0.1"), mac_), Resolution::kNoRoute);
  EXPECT_EQ(frames(), 0u);
}

TEST_F(HostStackTest, SilentNeighbourFailsWithinThreeSeconds_Case59) {
  EXPECT_EQ(stack_.resolve(kStart, kPeerIpv4, mac_), Resolution::kPending);
  size_t asked = 0;
  Time now = kStart;
  while (stack_.resolve(now, kPeerIpv4, mac_) == Resolution::kPending) {
    asked += frames(now);
    ASSERT_NE(stack_.poll_timeout(), kNever);
    now = std::max(now, stack_.poll_timeout());
    stack_.handle_timeout(now);
  }
  EXPECT_EQ(stack_.resolve(now, kPeerIpv4, mac_), Resolution::kFailed);
  EXPECT_EQ(now, kStart + seconds(3));
  EXPECT_EQ(asked, 3u);
}

TEST_F(HostStackTest, DestinationBehindAGatewayAsksForTheGateway) {
  ASSERT_TRUE(stack_.set_addresses(kOurAddresses, gid("198.18.0.254"), {}));
  EXPECT_EQ(stack_.resolve(kStart, gid("10.0.0.1"), mac_), Resolution::kPending);
  EXPECT_EQ(frames(), 1u);
  give(arp_reply(gid("198.18.0.254"), kThirdMac));
  EXPECT_EQ(stack_.resolve(kStart, gid("10.7.0.1"), mac_), Resolution::kResolved);
  EXPECT_EQ(mac_, kThirdMac);
}

// Two stacks on one wire find each other, in both families, with and without a VLAN.
TEST_F(HostStackTest, TwoStacksFindEachOther) {
  for (const uint16_t vlan : {uint16_t{0}, uint16_t{100}}) {  // case 76
    HostStack a(config(kOurMac, vlan));
    HostStack b(config(kPeerMac, vlan));
    ASSERT_TRUE(a.set_addresses(kOurAddresses, {}, {}));
    const std::vector<OwnAddress> peer = {{kPeerIpv4, 24}, {kPeerIpv6, 64}};
    ASSERT_TRUE(b.set_addresses(peer, {}, {}));
    for (const Gid& address : {kPeerIpv4, kPeerIpv6}) {
      EXPECT_EQ(a.resolve(kStart, address, mac_), Resolution::kPending);
      for (Bytes& frame : frames_of(a, kStart)) {
        EXPECT_EQ(load_be16(frame.data() + 12) == wire::kEthertypeVlan, vlan != 0);
        EXPECT_EQ(give(b, kStart, std::move(frame)), Drop::kNone);
      }
      for (Bytes& frame : frames_of(b, kStart)) {
        EXPECT_EQ(load_be16(frame.data() + 12) == wire::kEthertypeVlan, vlan != 0);
        EXPECT_EQ(give(a, kStart, std::move(frame)), Drop::kNone);
      }
      EXPECT_EQ(a.resolve(kStart, address, mac_), Resolution::kResolved);
      EXPECT_EQ(mac_, kPeerMac);
      EXPECT_EQ(a.neighbors().state_of(kStart, address), NeighborState::kReachable);
    }
    EXPECT_EQ(a.counters().solicitations_sent.value(), 2u);
    EXPECT_EQ(b.counters().arp_answered.value(), 1u);
    EXPECT_EQ(b.counters().nd_answered.value(), 1u);
  }
}

TEST_F(HostStackTest, AnnouncesEachAddressOnce) {
  stack_.announce(kStart);
  EXPECT_LE(stack_.poll_timeout(), kStart);
  const auto sent = frames_of(stack_, kStart);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(load_be16(sent[0].data() + 12), wire::kEthertypeArp);
  EXPECT_EQ(load_be16(sent[1].data() + 12), wire::kEthertypeIpv6);
  EXPECT_EQ(stack_.poll_timeout(), kNever);
  EXPECT_EQ(stack_.counters().announcements_sent.value(), 2u);
  // New addresses are announced when somebody says so, not by themselves.
  ASSERT_TRUE(stack_.set_addresses(
      std::vector<OwnAddress>{{kOurIpv4, 24}, {kOurIpv6, 64}, {gid("10.0.0.1"), 8}}, {}, {}));
  EXPECT_EQ(frames(), 0u);
}

TEST_F(HostStackTest, ALinkThatComesUpIsToldOfUsAndAskedAgain) {
  EXPECT_EQ(stack_.resolve(kStart, gid("198.18.0.77"), mac_), Resolution::kPending);
  EXPECT_EQ(frames(), 1u);
  EXPECT_EQ(frames(), 0u);
  stack_.link_up(kStart);
  EXPECT_EQ(frames(), 3u) << "two announcements and the question";
}

TEST_F(HostStackTest, AddressThatWasTakenAwayIsNotAnsweredForAnyMore) {
  EXPECT_EQ(give(arp_request(kOurIpv4)), Drop::kNone);
  EXPECT_EQ(frames(), 1u);
  ASSERT_TRUE(stack_.set_addresses({}, {}, {}));
  EXPECT_EQ(give(arp_request(kOurIpv4)), Drop::kNotForUs);
  EXPECT_EQ(frames(), 0u);
}

TEST_F(HostStackTest, QuestionWithoutAnAddressToAskFromIsNotSent) {
  EXPECT_EQ(stack_.resolve(kStart, kPeerIpv4, mac_), Resolution::kPending);
  ASSERT_TRUE(stack_.set_addresses({}, {}, {}));
  EXPECT_EQ(frames(), 0u);
}

// Errors change nothing but a counter: no state, no frame.
TEST_F(HostStackTest, IcmpErrorsAreCountedAndNotBelieved) {
  wire::IpFields ip;
  ip.source = kOurIpv4;
  ip.destination = kPeerIpv4;
  Bytes quoted(32);
  store_be16(quoted.data() + wire::store_ip(quoted.data(), ip, 1100) + 2, wire::kRoceUdpPort);
  wire::IcmpMessage error;
  error.kind = wire::IcmpKind::kPacketTooBig;
  error.mtu = 68;
  error.data = quoted;
  EXPECT_EQ(give(icmp_frame(kOurIpv4, error)), Drop::kNone);
  error.kind = wire::IcmpKind::kOther;
  error.type = 11;  // time exceeded
  EXPECT_EQ(give(icmp_frame(kOurIpv4, error)), Drop::kNone);
  EXPECT_EQ(give(icmp_frame(gid("198.18.0.9"), error)), Drop::kNotForUs);
  error.type = 13;  // timestamp request: no error, of no interest
  EXPECT_EQ(give(icmp_frame(kOurIpv4, error)), Drop::kNone);
  EXPECT_EQ(stack_.counters().icmp_packet_too_big.value(), 1u);
  EXPECT_EQ(stack_.counters().icmp_other_unreachable.value(), 1u);
  EXPECT_EQ(frames(), 0u);
}

TEST_F(HostStackTest, RefusesMalformedFramesByName) {
  Bytes wrong = ping(kOurIpv4, 56);
  wrong.back() ^= 1;
  EXPECT_EQ(give(wrong), Drop::kIcmpChecksum);
  Bytes cut = ping(kOurIpv4, 56);
  cut.resize(50);
  EXPECT_EQ(give(cut), Drop::kFrameCut);
  Bytes arp = arp_request(kOurIpv4);
  arp.resize(30);
  EXPECT_EQ(give(arp), Drop::kArpMalformed);
  EXPECT_EQ(frames(), 0u);
}

}  // namespace
}  // namespace uroce::neigh
