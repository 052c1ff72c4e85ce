// SPDX-License-Identifier: BSD-3-Clause
// Commands: what they change, what they refuse, and that a destroyed object is forgotten.
#include "engine/commands.h"

#include <gtest/gtest.h>

#include <utility>

#include "engine/wire_fixture.h"

namespace uroce::engine {
namespace {

constexpr Gid kGroup = Gid::from_ipv4(0xEF010201);

class Commands : public ::testing::Test {
 protected:
  Commands() : wire({&device, &peer_device}) { wire.settle(); }

  std::vector<transport::Event> events() {
    std::vector<transport::Event> out;
    while (const auto event = device.engines[0]->poll_event()) out.push_back(*event);
    return out;
  }
  int create(QpType type, Qpn qpn) {
    TestQp memory(device, QpType::kUd, qpn, 16);
    CreateQpCommand command;
    command.qpn = qpn;
    command.type = type;
    command.queues = memory.queues;
    const int result = device.run(0, command);
    if (result == 0) {
      DestroyQpCommand destroy;
      destroy.qpn = qpn;
      EXPECT_EQ(device.run(0, destroy), 0);
    }
    return result;
  }

  TestDevice device{{.number = 1}};
  TestDevice peer_device{{.number = 2}};
  TestWire wire;
  std::vector<std::unique_ptr<TestQp>> peers;
};

TEST_F(Commands, ABarrierIsDoneAtOnce) {
  BarrierCommand barrier;
  EXPECT_EQ(device.run(0, barrier), 0);
}

TEST_F(Commands, CreateRefusesWhatCannotBe) {
  auto qp = device.create(QpType::kUd);
  EXPECT_EQ(create(QpType::kUd, qp->qpn), -EBUSY);
  EXPECT_EQ(create(QpType::kSmi, Qpn(0x100 | 77)), -EOPNOTSUPP);
  EXPECT_EQ(create(QpType::kGsi, Qpn(0x100 | 77)), -EINVAL);
  EXPECT_EQ(create(QpType::kUd, kGsiQpn), -EINVAL);
  EXPECT_EQ(create(QpType::kGsi, kGsiQpn), 0);
  EXPECT_EQ(create(QpType::kUd, Qpn(0x100 | 77)), 0);
}

TEST_F(Commands, AQueuePairOfAnotherEngineIsNotHere) {
  TestDevice two({.number = 3, .engines = 2});
  auto qp = two.create(QpType::kUd, 1);
  ModifyQpCommand modify;
  modify.qpn = qp->qpn;
  EXPECT_EQ(two.run(0, modify), -EINVAL);
  EXPECT_EQ(two.engines[0]->qp(qp->qpn), nullptr);
  EXPECT_NE(two.engines[1]->qp(qp->qpn), nullptr);
}

TEST_F(Commands, NobodyAnswersForAnUnknownQpn) {
  ModifyQpCommand modify;
  QueryQpCommand query;
  DestroyQpCommand destroy;
  modify.qpn = query.qpn = destroy.qpn = Qpn(0x123456);
  EXPECT_EQ(device.run(0, modify), -EINVAL);
  EXPECT_EQ(device.run(0, query), -EINVAL);
  EXPECT_EQ(device.run(0, destroy), -EINVAL);
}

TEST_F(Commands, ADestroyThatIsRepeatedFindsTheQueuePairGone) {
  auto qp = device.create(QpType::kRc);
  const Qpn qpn = qp->qpn;
  EXPECT_EQ(device.destroy(*qp), 0);
  DestroyQpCommand destroy;
  destroy.qpn = qpn;
  destroy.again = true;
  EXPECT_EQ(device.run(0, destroy), 0);
}

TEST_F(Commands, QueryGivesWhatModifySet) {
  auto qp = device.create(QpType::kRc);
  connect_to(*qp, {peer_device.ipv4, peer_device.mac, Qpn(0x77)});
  QueryQpCommand query;
  query.qpn = qp->qpn;
  ASSERT_EQ(device.run(0, query), 0);
  EXPECT_EQ(query.attributes.state, QpState::kRts);
  EXPECT_EQ(query.attributes.dest_qpn, Qpn(0x77));
  EXPECT_EQ(query.attributes.path_mtu, PathMtu::k1024);
  EXPECT_EQ(query.attributes.sq_psn, first_psn(qp->qpn));
  EXPECT_EQ(device.to_state(*qp, QpState::kInit), -EINVAL) << "no such transition";
}

// MC-30, MC-32.
TEST_F(Commands, AMemberCannotBeDestroyed_Case65) {
  auto qp = device.datagram_qp();
  EXPECT_EQ(device.attach(*qp, kGroup), 0);
  EXPECT_EQ(device.attach(*qp, kGroup), 0);
  EXPECT_TRUE(device.shared.groups->maybe(0, kGroup));
  EXPECT_EQ(device.destroy(*qp), -EBUSY);
  EXPECT_EQ(device.detach(*qp, kGroup), 0);
  EXPECT_EQ(device.detach(*qp, kGroup), -EINVAL);
  EXPECT_FALSE(device.shared.groups->maybe(0, kGroup));
  EXPECT_EQ(device.destroy(*qp), 0);
}

TEST_F(Commands, OnlyDatagramQueuePairsJoinGroups_Case65) {
  auto rc = device.create(QpType::kRc);
  EXPECT_EQ(device.attach(*rc, kGroup), -EINVAL);
  MulticastCommand unknown(Command::Kind::kAttachMulticast);
  unknown.qpn = Qpn(0x123456);
  unknown.group = kGroup;
  EXPECT_EQ(device.run(0, unknown), -EINVAL);
}

TEST_F(Commands, ChangedSaysWhetherTheMembershipChanged) {
  auto qp = device.datagram_qp();
  MulticastCommand attach(Command::Kind::kAttachMulticast);
  attach.qpn = qp->qpn;
  attach.group = kGroup;
  EXPECT_EQ(device.run(0, attach), 0);
  EXPECT_TRUE(attach.changed);
  MulticastCommand again(Command::Kind::kAttachMulticast);
  again.qpn = qp->qpn;
  again.group = kGroup;
  EXPECT_EQ(device.run(0, again), 0);
  EXPECT_FALSE(again.changed);
  EXPECT_EQ(device.detach(*qp, kGroup), 0);
}

TEST_F(Commands, AFullGroupTableIsAnErrorAndNothingElse) {
  auto qp = device.datagram_qp();
  for (uint32_t i = 0; i < 8192; ++i) {
    ASSERT_EQ(device.attach(*qp, Gid::from_ipv4(0xEF000000 + i)), 0);
  }
  EXPECT_EQ(device.attach(*qp, Gid::from_ipv4(0xEF100000)), -ENOMEM);
}

// Destroyed in the middle of everything: packets to send, an ACK timer, a bell that rings.
TEST_F(Commands, DestroyTakesAQueuePairOffEveryList) {
  wire.run(std::chrono::seconds(2));  // the port's reports of its own groups are over
  std::unique_ptr<TestQp> qps[3];
  for (auto& qp : qps) {
    qp = device.create(QpType::kRc);
    connect_to(*qp, {peer_device.ipv4, peer_device.mac, Qpn(0x77)});
  }
  wire.lose = [](const Bytes&) { return true; };
  qps[0]->post_send(0, 8);
  wire.settle();
  ASSERT_LT(device.engines[0]->shortest_armed_timeout(), Duration::max());
  ASSERT_LT(device.poll_timeout(), kNever);
  qps[1]->post_send(0, 60'000);
  qps[2]->post_send(0, 60'000);
  Bytes room(4500);
  TxSlot slot;
  slot.room = room.data();
  slot.capacity = static_cast<uint32_t>(room.size());
  ASSERT_EQ(device.engines[0]->poll_frames(device.now, {&slot, 1}), 1u) << "inside a turn";
  qps[1]->post_send(0, 8);
  for (auto& qp : qps) EXPECT_EQ(device.destroy(*qp), 0);
  EXPECT_EQ(device.engines[0]->poll_frames(device.now, {&slot, 1}), 0u);
  EXPECT_EQ(device.poll_timeout(), kNever);
  EXPECT_EQ(device.engines[0]->shortest_armed_timeout(), Duration::max());
  for (auto& qp : qps) EXPECT_EQ(device.engines[0]->qp(qp->qpn), nullptr);
}

// A queue pair that has taken a message, whose ACK has not left.
class Parting : public Commands {
 protected:
  Parting() {
    connect(*own_, *peer_);
    own_->post_recv(0, 64);
    peer_->post_send(0, 8);
    peer_device.turn();
    EXPECT_EQ(peer_device.outbox.size(), 1u);
    Bytes bytes = std::exchange(peer_device.outbox, {}).at(0);
    RxFrame frame;
    frame.bytes = bytes.data();
    frame.length = static_cast<uint32_t>(bytes.size());
    device.engines[0]->handle_frames(device.now, {&frame, 1});
    EXPECT_EQ(own_->received().size(), 1u);
    destroy_.qpn = own_->qpn;
  }

  std::unique_ptr<TestQp> own_ = device.create(QpType::kRc);
  std::unique_ptr<TestQp> peer_ = peer_device.create(QpType::kRc);
  DestroyQpCommand destroy_;
};

TEST_F(Parting, AQueuePairIsDestroyedBehindTheAckItOwes) {
  EXPECT_EQ(device.run(0, destroy_), -EINPROGRESS);
  wire.settle();
  EXPECT_TRUE(destroy_.done);
  EXPECT_EQ(destroy_.result, 0);
  EXPECT_EQ(device.engines[0]->qp(own_->qpn), nullptr);
  EXPECT_EQ(peer_->sent().size(), 1u) << "acknowledged";
}

TEST_F(Parting, APortThatTakesNothingIsNotWaitedForForEver) {
  EXPECT_EQ(device.run(0, destroy_), -EINPROGRESS);
  const Time end = device.now + std::chrono::milliseconds(5);
  EXPECT_LE(device.poll_timeout(), end);
  device.engines[0]->handle_timeout(end - Duration(1));
  EXPECT_FALSE(destroy_.done);
  device.engines[0]->handle_timeout(end);
  EXPECT_TRUE(destroy_.done);
  EXPECT_EQ(device.engines[0]->qp(own_->qpn), nullptr);
}

TEST_F(Commands, EventsOfADestroyedQueuePairAreTakenBackAndNoOthers) {
  auto gone = device.create(QpType::kRc);
  auto stays = device.create(QpType::kRc);
  for (TestQp* qp : {gone.get(), stays.get()}) {
    peers.push_back(peer_device.create(QpType::kRc));
    TestQp& peer = *peers.back();
    connect_to(peer, {device.ipv4, device.mac, qp->qpn});
    connect_to(*qp, {peer_device.ipv4, peer_device.mac, peer.qpn}, 14, QpState::kRtr);
    qp->post_recv(0, 64);
    peer.post_send(0, 8);  // a packet in RTR: communication established
    wire.settle();
  }
  ASSERT_EQ(device.destroy(*gone), 0);
  const std::vector<transport::Event> left = events();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].type, transport::EventType::kCommEst);
  EXPECT_EQ(left[0].object, stays.get());
}

// The queues' memory may be freed as soon as the command is done.
TEST_F(Commands, CompletionsArePublishedBeforeACommandIsDone) {
  auto qp = device.create(QpType::kRc);
  connect_to(*qp, {peer_device.ipv4, peer_device.mac, Qpn(0x77)});
  qp->post_recv(0, 64, 5);
  ASSERT_EQ(device.to_state(*qp, QpState::kErr), 0);
  const std::vector<Cqe> flushed = qp->received();
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].status, transport::WcStatus::kWrFlushErr);
  EXPECT_EQ(flushed[0].wr_id, 5u);
}

}  // namespace
}  // namespace uroce::engine
