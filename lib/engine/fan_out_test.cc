// SPDX-License-Identifier: BSD-3-Clause
// Multicast: every member its own copy, whatever becomes of the others.
#include "engine/fan_out.h"

#include <gtest/gtest.h>

#include "engine/wire_fixture.h"

namespace uroce::engine {
namespace {

using wire::Drop;
using wire::Opcode;

constexpr Gid kGroup = Gid::from_ipv4(0xEF010201);         // 239.1.2.1
constexpr Gid kSameMacGroup = Gid::from_ipv4(0xEF810201);  // 239.129.2.1
constexpr Gid kSender = Gid::from_ipv4(0x0A000002);
constexpr uint32_t kBufferBytes = 512;

class FanOut : public ::testing::Test {
 protected:
  explicit FanOut(const TestDeviceOptions& options = {}) : device(options) {
    device.turn();
    device.outbox.clear();  // announcements
  }

  // A member with `receives` posted, in a buffer of its own.
  TestQp& member(uint32_t engine = 0, int receives = 4, const Gid& group = kGroup) {
    auto qp = device.datagram_qp(engine);
    for (int i = 0; i < receives; ++i) qp->post_recv(buffer_of(members.size()), kBufferBytes);
    EXPECT_EQ(device.attach(*qp, group), 0);
    members.push_back(std::move(qp));
    return *members.back();
  }
  static size_t buffer_of(size_t member) { return member * kBufferBytes; }
  Forged packet(const Gid& group = kGroup) const {
    Forged forged;
    forged.source = kSender;
    forged.destination = group;
    forged.destination_mac = group_mac(group);
    forged.dest_qpn = kMulticastQpn;
    forged.deth = {0x11111111, Qpn(0x77)};
    forged.payload = {7, 6, 5, 4};
    return forged;
  }
  void arrive(const Forged& forged, uint32_t queue = 0) { arrive(forge(forged), queue); }
  void arrive(const Bytes& frame, uint32_t queue = 0) {
    device.receive(frame, queue);
    while (device.turn() > 0) {
    }
    device.outbox.clear();
  }
  // How many completions each member has got since the last call.
  std::vector<size_t> copies() {
    std::vector<size_t> counts;
    for (auto& qp : members) counts.push_back(qp->received().size());
    return counts;
  }
  using Counts = std::vector<size_t>;

  TestDevice device;
  std::vector<std::unique_ptr<TestQp>> members;
};

// MC-40.
TEST_F(FanOut, EachMemberGetsOneCopyInItsOwnMemory) {
  member();
  member();
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{1, 1}));
  EXPECT_EQ(device.bytes_at(buffer_of(0) + 40, 4), (Bytes{7, 6, 5, 4}));
  EXPECT_EQ(device.bytes_at(buffer_of(1) + 40, 4), (Bytes{7, 6, 5, 4}));
  EXPECT_EQ(device.engines[0]->counters().multicast_received.value(), 1u);
  EXPECT_EQ(device.engines[0]->counters().multicast_copies.value(), 2u);
  EXPECT_EQ(device.engines[0]->counters().received_packets.value(), 1u) << "once, not per copy";
}

TEST_F(FanOut, GroupsThatShareAMacAddressAreDifferentGroups_Case62) {
  member();
  arrive(packet(kSameMacGroup));
  EXPECT_EQ(copies(), (Counts{0}));
  EXPECT_EQ(device.dropped(Drop::kGroupUnknown), 1u);
  arrive(packet(kGroup));
  EXPECT_EQ(copies(), (Counts{1}));
}

TEST_F(FanOut, AnIpv6GroupWorksLikewise_Case62) {
  Gid group;
  group.bytes = {0xff, 0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2};
  member(0, 4, group);
  Forged forged = packet(group);
  forged.source = TestDevice::ipv6_of(2);
  arrive(forged);
  EXPECT_EQ(copies(), (Counts{1}));
}

TEST_F(FanOut, OnlyGroupAddressesCanBeAttached_Case62) {
  TestQp& qp = member();
  EXPECT_EQ(device.attach(qp, Gid::from_ipv4(0x0A000001)), -EINVAL);
  EXPECT_EQ(device.attach(qp, Gid{}), -EINVAL);
}

// MC-41.
TEST_F(FanOut, AWrongQkeyIsTheMembersOwnLoss) {
  member();
  auto qp = device.create(QpType::kUd);
  qp->qkey = 0x22222222;
  device.start_datagrams(*qp);
  qp->post_recv(buffer_of(1), kBufferBytes);
  ASSERT_EQ(device.attach(*qp, kGroup), 0);
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{1}));
  EXPECT_TRUE(qp->received().empty());
  EXPECT_EQ(device.context(*qp).qkey_violations.value(), 1u);
}

// MC-42.
TEST_F(FanOut, AMemberThatCannotReceiveYetCountsAsAbsent) {
  auto qp = device.create(QpType::kUd);
  device.start_datagrams(*qp, QpState::kInit);
  qp->post_recv(buffer_of(1), kBufferBytes);
  ASSERT_EQ(device.attach(*qp, kGroup), 0);
  arrive(packet());
  EXPECT_EQ(device.dropped(Drop::kGroupNoMember), 1u);
  member();
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{1}));
  EXPECT_TRUE(qp->received().empty());
  EXPECT_EQ(device.dropped(), 1u);
}

// MC-43.
TEST_F(FanOut, PkeysAreChecked) {
  TestQp& qp = member();
  Forged forged = packet();
  forged.pkey = 0x7FFF;
  arrive(forged);
  EXPECT_EQ(copies(), (Counts{1}));
  for (const uint16_t pkey : std::initializer_list<uint16_t>{0x0000, 0x7FFE, 0xFFFE}) {
    forged.pkey = pkey;
    arrive(forged);
  }
  EXPECT_EQ(copies(), (Counts{0}));
  EXPECT_EQ(device.context(qp).pkey_violations.value(), 3u);
}

// MC-44.
TEST_F(FanOut, AMemberWithoutReceivesIsTheOnlyOneToLose) {
  member(0, 0);
  member();
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{0, 1}));
  EXPECT_EQ(device.dropped(Drop::kRecvQueueEmpty), 1u);
}

// MC-45: whatever the last member lacks, the first two get every message and nothing is kept.
TEST_F(FanOut, TheLastMemberFailsInEveryWay_Case68) {
  member(0, 100);
  member(0, 100);
  auto wrong_qkey = device.create(QpType::kUd);
  wrong_qkey->qkey = 1;
  device.start_datagrams(*wrong_qkey);
  auto no_receive = device.datagram_qp();
  auto in_init = device.create(QpType::kUd);
  device.start_datagrams(*in_init, QpState::kInit);
  auto short_buffer = device.datagram_qp();
  short_buffer->post_recv(buffer_of(2), 43);
  for (TestQp* last : {wrong_qkey.get(), no_receive.get(), in_init.get(), short_buffer.get()}) {
    ASSERT_EQ(device.attach(*last, kGroup), 0);
    for (int i = 0; i < 20; ++i) arrive(packet());
    EXPECT_EQ(copies(), (Counts{20, 20}));
    EXPECT_TRUE(last->received().empty());
    ASSERT_EQ(device.detach(*last, kGroup), 0);
  }
  EXPECT_EQ(device.dropped(Drop::kRecvBufferShort), 20u);
}

// MC-46.
TEST_F(FanOut, AnRcOpcodeToAGroupReachesNobody_Case64) {
  member();
  Forged forged = packet();
  forged.opcode = Opcode::kRcSendOnly;
  arrive(forged);
  EXPECT_EQ(copies(), (Counts{0}));
  EXPECT_EQ(device.dropped(Drop::kQpType), 1u);
}

// MC-47.
TEST_F(FanOut, ABadIcrcReachesNobody) {
  member();
  Forged forged = packet();
  forged.spoil_icrc = true;
  arrive(forged);
  EXPECT_EQ(copies(), (Counts{0}));
  EXPECT_EQ(device.dropped(Drop::kIcrc), 1u);
}

TEST_F(FanOut, DetachStopsDeliveryAtOnceAndOnlyForThatMember) {
  for (int i = 0; i < 3; ++i) member();
  arrive(packet());
  ASSERT_EQ(device.detach(*members[1], kGroup), 0);
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{2, 1, 2}));
  EXPECT_EQ(device.detach(*members[1], kGroup), -EINVAL);
}

TEST_F(FanOut, AMemberBySourceGetsTheMessagesOfItsSourcesOnly) {
  TestQp& of_all = member();
  TestQp& of_one = member(0, 4, kSameMacGroup);
  const Gid other = Gid::from_ipv4(0x0A000003);
  ASSERT_EQ(device.attach_source(of_one, kGroup, kSender), 0);
  ASSERT_EQ(device.attach_source(of_one, kGroup, kSender), 0) << "a set";
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{1, 1}));
  Forged from_other = packet();
  from_other.source = other;
  arrive(from_other);
  EXPECT_EQ(copies(), (Counts{1, 0}));
  EXPECT_EQ(device.dropped(Drop::kGroupSource), 0u) << "somebody took it";
  ASSERT_EQ(device.attach_source(of_one, kGroup, other), 0);
  arrive(from_other);
  EXPECT_EQ(copies(), (Counts{1, 1}));
  EXPECT_EQ(device.attach_source(of_all, kGroup, kSender), -EADDRINUSE);
  ASSERT_EQ(device.detach(of_all, kGroup), 0);
  ASSERT_EQ(device.detach_source(of_one, kGroup, kSender), 0);
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{0, 0}));
  EXPECT_EQ(device.dropped(Drop::kGroupSource), 1u);
  ASSERT_EQ(device.detach_source(of_one, kGroup, other), 0);
  EXPECT_EQ(device.detach_source(of_one, kGroup, other), -EINVAL);
  arrive(packet());
  EXPECT_EQ(device.dropped(Drop::kGroupUnknown), 1u) << "the last source was the membership";
}

TEST_F(FanOut, AttachedTwiceIsOneCopy_Case65) {
  TestQp& qp = member();
  EXPECT_EQ(device.attach(qp, kGroup), 0);
  arrive(packet());
  EXPECT_EQ(copies(), (Counts{1}));
}

// MC-49, and beyond the prefetch distance.
TEST_F(FanOut, ManyMembersAllGetACopy) {
  for (int i = 0; i < 200; ++i) member();
  arrive(packet());
  EXPECT_EQ(copies(), Counts(200, 1));
}

// MC-50.
TEST_F(FanOut, ASenderHearsItselfUnlessItAskedNotTo) {
  member();
  auto sender = device.datagram_qp();
  auto deaf = device.datagram_qp(0, true);
  for (TestQp* qp : {sender.get(), deaf.get()}) {
    qp->post_recv(buffer_of(1), kBufferBytes);
    qp->post_recv(buffer_of(1), kBufferBytes);
    ASSERT_EQ(device.attach(*qp, kGroup), 0);
  }
  sender->post_multicast(kGroup, 0, 8);
  while (device.turn() > 0) {
  }
  EXPECT_EQ(copies(), (Counts{1}));
  EXPECT_EQ(sender->received().size(), 1u);
  EXPECT_EQ(deaf->received().size(), 1u) << "it hears others";
  deaf->post_multicast(kGroup, 0, 8);
  while (device.turn() > 0) {
  }
  EXPECT_EQ(copies(), (Counts{1}));
  EXPECT_EQ(sender->received().size(), 1u);
  EXPECT_EQ(deaf->received().size(), 0u);
  EXPECT_EQ(device.dropped(), 0u) << "wanted silence is no loss";
}

// --- over the wire and over engines ---

TEST_F(FanOut, AGroupSendCarriesTheGroupsQpnAndMac_Case64) {
  TestDevice other({.number = 2});
  TestWire wire({&device, &other});
  auto sender = other.datagram_qp();
  member();
  member();
  other.fill(0, 100, 3);
  sender->post_multicast(kGroup, 0, 100);
  wire.settle();
  EXPECT_EQ(copies(), (Counts{1, 1}));
  EXPECT_EQ(device.bytes_at(buffer_of(1) + 40, 100), other.bytes_at(0, 100));
  const Bytes& frame = wire.seen.back();
  wire::ParsedFrame parsed{};
  ASSERT_EQ(wire::parse_roce(frame, {}, parsed), Drop::kNone);
  EXPECT_EQ(parsed.dest_qpn, kMulticastQpn);
  EXPECT_EQ(parsed.destination_mac(), group_mac(kGroup));
  EXPECT_EQ(sender->sent().size(), 1u);
}

class FanOutThreeEngines : public FanOut {
 protected:
  FanOutThreeEngines() : FanOut({.engines = 3}) {}
};

TEST_F(FanOutThreeEngines, EveryCopySaysWhenThePacketCame) {
  const Time came(Duration(777));
  for (const uint32_t engine : {0u, 1u, 1u, 2u}) member(engine);
  device.receive(forge(packet()), 2, ReceiveTime{came, true});
  for (int turn = 0; turn < 3; ++turn) {
    device.turn();
    device.now += Duration(1000);
  }
  for (auto& qp : members) {
    const std::vector<transport::Cqe> copies = qp->received();
    ASSERT_EQ(copies.size(), 1u);
    EXPECT_EQ(copies[0].arrival_ns, came.time_since_epoch().count());
    EXPECT_NE(copies[0].wc_flags & transport::kWcRxTimeHardware, 0);
  }
}

TEST_F(FanOutThreeEngines, AGroupIsServedByEveryEngineThatHasMembers) {
  member(0);
  member(1);
  member(1);
  arrive(packet(), 2);
  EXPECT_EQ(copies(), (Counts{1, 1, 1})) << "arrived on an engine without members";
  arrive(packet(), 1);
  EXPECT_EQ(copies(), (Counts{1, 1, 1}));
  EXPECT_EQ(device.engines[2]->counters().handed_off.value(), 2u);
  EXPECT_EQ(device.engines[1]->counters().handed_off.value(), 1u);
  EXPECT_EQ(device.engines[0]->counters().handed_off.value(), 0u) << "never passed on";
  EXPECT_EQ(device.dropped(), 0u);
}

TEST_F(FanOutThreeEngines, AnIcrcIsVerifiedBeforeOthersSeeTheFrame) {
  member(0);
  Forged forged = packet();
  forged.spoil_icrc = true;
  arrive(forged, 1);
  EXPECT_EQ(device.engines[1]->counters().handed_off.value(), 0u);
  EXPECT_EQ(device.dropped(Drop::kIcrc), 1u);
}

TEST_F(FanOutThreeEngines, AGroupIsNotOfferedToAnEngineWithOtherGroups) {
  member(0);
  member(1, 4, kSameMacGroup);
  arrive(packet(), 0);
  EXPECT_EQ(copies(), (Counts{1, 0}));
  EXPECT_EQ(device.dropped(), 0u);
  EXPECT_EQ(device.engines[0]->counters().handed_off.value(), 0u);
}

TEST_F(FanOutThreeEngines, AGroupThatNobodyIsInIsADropWhateverElseIsJoined) {
  member(1, 4, kSameMacGroup);
  arrive(packet(), 0);
  EXPECT_EQ(device.dropped(Drop::kGroupUnknown), 1u);
  EXPECT_EQ(device.engines[0]->counters().handed_off.value(), 0u);
}

TEST_F(FanOutThreeEngines, ALocalSenderReachesMembersOfOtherEngines) {
  member(1);
  auto sender = device.datagram_qp(2);
  sender->post_multicast(kGroup, 0, 8);
  while (device.turn() > 0) {
  }
  EXPECT_EQ(copies(), (Counts{1}));
  EXPECT_EQ(device.outbox.size(), 1u) << "and the wire";
}

}  // namespace
}  // namespace uroce::engine
