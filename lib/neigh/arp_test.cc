// SPDX-License-Identifier: BSD-3-Clause
// ARP frames byte for byte as Linux sends them; one answer for our addresses, none for others.
#include "neigh/arp.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"
#include "wire/arp.h"

namespace uroce::neigh {
namespace {

using wire::Drop;

// Captured: 198.18.0.3 asks for 198.18.0.2 and Linux answers.
const Bytes kCapturedRequest = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0xc6, 0x12, 0x00, 0x00,
                                0x03, 0x08, 0x06, 0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01,
                                0x02, 0xc6, 0x12, 0x00, 0x00, 0x03, 0xc6, 0x12, 0x00, 0x03, 0x00,
                                0x00, 0x00, 0x00, 0x00, 0x00, 0xc6, 0x12, 0x00, 0x02};
const Bytes kCapturedReply = {0x02, 0xc6, 0x12, 0x00, 0x00, 0x03, 0x02, 0xc6, 0x12, 0x00, 0x00,
                              0x02, 0x08, 0x06, 0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x02,
                              0x02, 0xc6, 0x12, 0x00, 0x00, 0x02, 0xc6, 0x12, 0x00, 0x02, 0x02,
                              0xc6, 0x12, 0x00, 0x00, 0x03, 0xc6, 0x12, 0x00, 0x03};

class ArpTest : public testing::Test {
 protected:
  ArpTest() { hops_.set(kOurAddresses, {}, {}); }
  Drop give(Bytes frame) {
    const Classified c(std::move(frame));
    EXPECT_EQ(c.info.kind, wire::FrameKind::kArp);
    return arp_.handle_frame(kStart, c.bytes, c.info);
  }
  Bytes reply() {
    Bytes room(64);
    room.resize(arp_.build_reply(room));
    return room;
  }
  Resolution resolve() { return neighbors_.resolve(kStart, kPeerIpv4, mac_); }

  NextHop hops_;
  NeighborTable neighbors_{8, 1};
  HostStackCounters counters_;
  Arp arp_{{kOurMac, false, 0}, hops_, neighbors_, counters_};
  MacAddress mac_{};
};

TEST_F(ArpTest, AnswersARequestForOurAddressAsLinuxDoes) {
  EXPECT_EQ(give(kCapturedRequest), Drop::kNone);
  ASSERT_TRUE(arp_.has_reply());
  EXPECT_EQ(reply(), kCapturedReply);
  EXPECT_FALSE(arp_.has_reply());
  EXPECT_EQ(counters_.arp_answered.value(), 1u);
}

TEST_F(ArpTest, RequestForAnAddressOfOthersIsNotAnswered) {
  EXPECT_EQ(give(arp_request(gid("198.18.0.9"))), Drop::kNotForUs);
  EXPECT_FALSE(arp_.has_reply());
}

TEST_F(ArpTest, ProbeForOurAddressIsAnswered) {
  EXPECT_EQ(give(arp_request(kOurIpv4, kPeerMac, gid("0.0.0.0"))), Drop::kNone);
  EXPECT_TRUE(arp_.has_reply());
}

TEST_F(ArpTest, AsksAsLinuxAsks) {
  // The captured request came from the peer, so the peer's side of the table is built here.
  NextHop peer_hops;
  const OwnAddress own{kPeerIpv4, 24};
  ASSERT_TRUE(peer_hops.set({&own, 1}, {}, {}));
  const Arp peer({kPeerMac, false, 0}, peer_hops, neighbors_, counters_);
  Bytes room(64);
  room.resize(peer.build_solicitation(room, {kOurIpv4, false, {}}));
  EXPECT_EQ(room, kCapturedRequest);
}

TEST_F(ArpTest, ReplyToUsMakesTheNeighbourReachable) {
  resolve();
  EXPECT_EQ(give(arp_reply(kPeerIpv4, kPeerMac)), Drop::kNone);
  EXPECT_EQ(resolve(), Resolution::kResolved);
  EXPECT_EQ(mac_, kPeerMac);
  EXPECT_EQ(neighbors_.state_of(kStart, kPeerIpv4), NeighborState::kReachable);
}

TEST_F(ArpTest, RequestOfAKnownNeighbourIsNoProofThatItHearsUs) {
  resolve();
  EXPECT_EQ(give(kCapturedRequest), Drop::kNone);
  EXPECT_EQ(resolve(), Resolution::kResolved);
  EXPECT_EQ(neighbors_.state_of(kStart, kPeerIpv4), NeighborState::kStale);
}

TEST_F(ArpTest, GratuitousArpOfAKnownNeighbourMovesIt) {
  resolve();
  give(arp_reply(kPeerIpv4, kPeerMac));
  EXPECT_EQ(give(arp_request(kPeerIpv4, kThirdMac, kPeerIpv4)), Drop::kNotForUs);
  resolve();
  EXPECT_EQ(mac_, kThirdMac);
}

TEST_F(ArpTest, AnotherHostWithOurAddressIsCountedAndNotFought) {
  EXPECT_EQ(give(arp_request(kOurIpv4, kThirdMac, kOurIpv4)), Drop::kNone);
  EXPECT_EQ(give(arp_reply(kOurIpv4, kThirdMac)), Drop::kNone);
  EXPECT_EQ(counters_.address_conflicts.value(), 2u);
  EXPECT_FALSE(arp_.has_reply());
}

TEST_F(ArpTest, AnnouncesWithABroadcastRequestForOurselves) {
  Bytes room(64);
  room.resize(arp_.build_announcement(room, kOurIpv4));
  const Classified c(room);
  EXPECT_EQ(wire::load_mac(c.bytes.data()), wire::kBroadcastMac);
  wire::ArpMessage message;
  ASSERT_EQ(wire::parse_arp(c.bytes, c.info, message), Drop::kNone);
  const wire::ArpMessage right{wire::ArpMessage::kRequest, kOurMac, kOurIpv4.ipv4(), MacAddress{},
                               kOurIpv4.ipv4()};
  EXPECT_EQ(message, right);
}

TEST_F(ArpTest, FloodFillsTheQueueAndTheRestIsCounted) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(give(kCapturedRequest), Drop::kNone);
  int replies = 0;
  for (; arp_.has_reply(); ++replies) reply();
  EXPECT_EQ(replies, 32);
  EXPECT_EQ(counters_.replies_dropped.value(), 68u);
}

TEST_F(ArpTest, RefusesMalformedFramesByName) {
  Bytes cut = kCapturedRequest;
  cut.resize(40);
  EXPECT_EQ(give(cut), Drop::kArpMalformed);
  Bytes token_ring = kCapturedRequest;
  token_ring[15] = 6;
  EXPECT_EQ(give(token_ring), Drop::kArpMalformed);
  EXPECT_FALSE(arp_.has_reply());
}

}  // namespace
}  // namespace uroce::neigh
