// SPDX-License-Identifier: BSD-3-Clause
// Neighbour discovery frames byte for byte as Linux sends them.
#include "neigh/nd.h"

#include <gtest/gtest.h>

#include "neigh/neigh_test.h"

namespace uroce::neigh {
namespace {

using wire::Drop;

// Captured: fd00:c612::3 asks for fd00:c612::2 and Linux answers.
const Bytes kCapturedSolicitation = {
    0x33, 0x33, 0xff, 0x00, 0x00, 0x02, 0x02, 0xc6, 0x12, 0x00, 0x00, 0x03, 0x86, 0xdd, 0x60,
    0x00, 0x00, 0x00, 0x00, 0x20, 0x3a, 0xff, 0xfd, 0x00, 0xc6, 0x12, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0xff, 0x00, 0x00, 0x02, 0x87, 0x00, 0xde, 0xa7, 0x00, 0x00,
    0x00, 0x00, 0xfd, 0x00, 0xc6, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x02, 0x01, 0x01, 0x02, 0xc6, 0x12, 0x00, 0x00, 0x03};
const Bytes kCapturedAdvertisement = {
    0x02, 0xc6, 0x12, 0x00, 0x00, 0x03, 0x02, 0xc6, 0x12, 0x00, 0x00, 0x02, 0x86, 0xdd, 0x60,
    0x00, 0x00, 0x00, 0x00, 0x20, 0x3a, 0xff, 0xfd, 0x00, 0xc6, 0x12, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xfd, 0x00, 0xc6, 0x12, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x88, 0x00, 0xb7, 0x99, 0x60, 0x00,
    0x00, 0x00, 0xfd, 0x00, 0xc6, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x02, 0x02, 0x01, 0x02, 0xc6, 0x12, 0x00, 0x00, 0x02};

class NdTest : public testing::Test {
 protected:
  NdTest() { hops_.set(kOurAddresses, {}, {}); }
  Drop give(Bytes frame) {
    const Classified c(std::move(frame));
    EXPECT_EQ(c.info.kind, wire::FrameKind::kNd);
    return nd_.handle_frame(kStart, c.bytes, c.info, c.options);
  }
  Bytes reply() {
    Bytes room(128);
    room.resize(nd_.build_reply(room));
    return room;
  }
  Resolution resolve() { return neighbors_.resolve(kStart, kPeerIpv6, mac_); }
  static wire::NdMessage parsed(Bytes frame) {
    const Classified c(std::move(frame));
    wire::NdMessage message;
    EXPECT_EQ(wire::parse_nd(c.bytes, c.info, c.options, message), Drop::kNone);
    return message;
  }

  NextHop hops_;
  NeighborTable neighbors_{8, 1};
  HostStackCounters counters_;
  Nd nd_{{kOurMac, false, 0}, hops_, neighbors_, counters_};
  MacAddress mac_{};
};

TEST_F(NdTest, AnswersASolicitationForOurAddressAsLinuxDoes) {
  EXPECT_EQ(give(kCapturedSolicitation), Drop::kNone);
  ASSERT_TRUE(nd_.has_reply());
  EXPECT_EQ(reply(), kCapturedAdvertisement);
  EXPECT_FALSE(nd_.has_reply());
}

TEST_F(NdTest, AsksAsLinuxAsks) {
  NextHop peer_hops;
  const OwnAddress own{kPeerIpv6, 64};
  ASSERT_TRUE(peer_hops.set({&own, 1}, {}, {}));
  const Nd peer({kPeerMac, false, 0}, peer_hops, neighbors_, counters_);
  Bytes room(128);
  room.resize(peer.build_solicitation(room, {kOurIpv6, false, {}}));
  EXPECT_EQ(room, kCapturedSolicitation);
}

TEST_F(NdTest, SolicitationForAnAddressOfOthersIsNotAnswered) {
  EXPECT_EQ(give(solicitation(gid("fd00:c612::9"))), Drop::kNotForUs);
  EXPECT_FALSE(nd_.has_reply());
}

// A host that checks whether our address is free has no address itself: all nodes get the answer.
TEST_F(NdTest, AnswerGoesToTheLinkAddressThatTheAskerNames) {
  Bytes frame = kCapturedSolicitation;
  frame[11] = 0x77;  // sent by another interface, say of a bond
  EXPECT_EQ(give(frame), Drop::kNone);
  EXPECT_EQ(reply(), kCapturedAdvertisement);
}

TEST_F(NdTest, DuplicateAddressDetectionIsAnsweredToAllNodes) {
  EXPECT_EQ(give(solicitation(kOurIpv6, Gid{})), Drop::kNone);
  const Bytes frame = reply();
  EXPECT_EQ(wire::load_mac(frame.data()), (MacAddress{{0x33, 0x33, 0, 0, 0, 1}}));
  const wire::NdMessage message = parsed(frame);
  EXPECT_EQ(message.destination, gid("ff02::1"));
  EXPECT_FALSE(message.solicited);
  EXPECT_TRUE(message.override_entry);
}

TEST_F(NdTest, AdvertisementToUsMakesTheNeighbourReachable) {
  resolve();
  EXPECT_EQ(give(advertisement(kPeerIpv6, kPeerMac, true, true)), Drop::kNone);
  EXPECT_EQ(resolve(), Resolution::kResolved);
  EXPECT_EQ(neighbors_.state_of(kStart, kPeerIpv6), NeighborState::kReachable);
}

TEST_F(NdTest, AdvertisementWithoutOverrideDoesNotMoveANeighbour) {
  resolve();
  give(advertisement(kPeerIpv6, kPeerMac, true, true));
  give(advertisement(kPeerIpv6, kThirdMac, true, false));
  resolve();
  EXPECT_EQ(mac_, kPeerMac);
  give(advertisement(kPeerIpv6, kThirdMac, false, true));
  resolve();
  EXPECT_EQ(mac_, kThirdMac);
}

TEST_F(NdTest, SolicitationTellsTheMacOfAKnownAsker) {
  resolve();
  give(kCapturedSolicitation);
  EXPECT_EQ(resolve(), Resolution::kResolved);
  EXPECT_EQ(neighbors_.state_of(kStart, kPeerIpv6), NeighborState::kStale);
}

TEST_F(NdTest, AnotherHostWithOurAddressIsCountedAndNotFought) {
  EXPECT_EQ(give(advertisement(kOurIpv6, kThirdMac, false, true)), Drop::kNone);
  EXPECT_EQ(give(solicitation(kPeerIpv6, kOurIpv6)), Drop::kNone);
  EXPECT_EQ(counters_.address_conflicts.value(), 2u);
  EXPECT_FALSE(nd_.has_reply());
}

TEST_F(NdTest, AnnouncesToAllNodes) {
  Bytes room(128);
  room.resize(nd_.build_announcement(room, kOurIpv6));
  const wire::NdMessage message = parsed(room);
  EXPECT_EQ(message.kind, wire::NdKind::kAdvertisement);
  EXPECT_EQ(message.source, kOurIpv6);
  EXPECT_EQ(message.target, kOurIpv6);
  EXPECT_EQ(message.destination, gid("ff02::1"));
  EXPECT_EQ(message.link_address, kOurMac);
  EXPECT_FALSE(message.solicited);
}

TEST_F(NdTest, KnownNeighbourIsAskedInPerson) {
  Bytes room(128);
  room.resize(nd_.build_solicitation(room, {kPeerIpv6, true, kPeerMac}));
  EXPECT_EQ(wire::load_mac(room.data()), kPeerMac);
  EXPECT_EQ(parsed(room).destination, kPeerIpv6);
}

TEST_F(NdTest, FloodFillsTheQueueAndTheRestIsCounted) {
  for (int i = 0; i < 100; ++i) give(kCapturedSolicitation);
  int replies = 0;
  for (; nd_.has_reply(); ++replies) reply();
  EXPECT_EQ(replies, 32);
  EXPECT_EQ(counters_.replies_dropped.value(), 68u);
}

TEST_F(NdTest, RefusesMalformedFramesByName) {
  Bytes routed = kCapturedSolicitation;
  routed[21] = 254;  // hop limit: it came through a router
  EXPECT_EQ(give(routed), Drop::kNdMalformed);
  Bytes wrong = kCapturedSolicitation;
  wrong[60] ^= 1;  // in the target
  EXPECT_EQ(give(wrong), Drop::kIcmpChecksum);
  Bytes cut = kCapturedSolicitation;
  cut.resize(70);
  EXPECT_EQ(give(cut), Drop::kFrameCut);
  EXPECT_FALSE(nd_.has_reply());
}

TEST(LinkLocal, FollowsFromTheMacAddress) {
  EXPECT_EQ(link_local_of(kOurMac), gid("fe80::c6:12ff:fe00:2"));
}

}  // namespace
}  // namespace uroce::neigh
