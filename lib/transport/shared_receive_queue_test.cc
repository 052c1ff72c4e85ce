// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues: whose a WQE is and when, the limit, the end of a queue pair, resizing.
#include "transport/shared_receive_queue.h"

#include <vector>

#include "transport/error_class.h"
#include "transport/qp_fixture.h"
#include "transport/receive_work.h"

namespace uroce::transport {
namespace {

using memory::Sge;
using wire::Opcode;

class SharedReceiveQueueTest : public QpFixture {
 protected:
  static constexpr uint32_t kDepth = 8;
  static constexpr uint32_t kSges = 4;

  SharedReceiveQueueTest() {
    SrqRing* ring = new_ring(kDepth);
    srq_.current.store(ring);
    srq_.pd = kPd;
    srq_.sge_max = kSges;
    srq_.user = &srq_;
    poster_ = {ring, ring};
    share(QpType::kRc);
  }
  void share(QpType type) {
    make(type, false, PathMtu::k1024, {64, 1, 4, kSges, 64});
    qp->srq = &srq_;
    qp->recv_pd = srq_.pd;
  }
  SrqRing* new_ring(uint32_t depth) {
    blocks_.push_back(aligned_block(srq_ring_memory_bytes(depth, kSges)));
    return carve_srq_ring(depth, kSges, blocks_.back().get());
  }
  void post(uint64_t wr_id, const std::vector<Sge>& sges) {
    ReceiveQueue& queue = poster_.posting->queue;
    const uint32_t tail = queue.producer.load();
    ASSERT_FALSE(poster_.full_at(tail));
    RecvWqe& wqe = queue.wqe(tail);
    wqe = {wr_id, 0, static_cast<uint32_t>(sges.size())};
    for (size_t i = 0; i < sges.size(); ++i) {
      wqe.sge_array()[i] = sges[i];
      wqe.length += sges[i].length;
    }
    queue.producer.store(tail + 1);
  }
  void post(uint64_t wr_id) { post(wr_id, {sge(wr_id * 4096, 4096)}); }
  void post_range(uint64_t first, uint64_t last) {
    for (uint64_t id = first; id <= last; ++id) post(id);
  }
  bool full() { return poster_.full_at(poster_.posting->queue.producer.load()); }

  // A whole message of `count` bytes, or its first packet.
  void message(size_t count = 8) {
    request({.psn = qp->resp.expected_psn, .payload = pattern(count)});
  }
  void first_packet() {
    request({.opcode = Opcode::kRcSendFirst,
             .psn = qp->resp.expected_psn,
             .payload = pattern(1024),
             .ack_request = false});
  }
  std::vector<uint64_t> received() {
    std::vector<uint64_t> ids;
    for (const Cqe& cqe : recv_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      ids.push_back(cqe.wr_id);
    }
    return ids;
  }

  SharedReceiveQueue srq_;
  SrqPoster poster_;
  std::vector<AlignedBlock> blocks_;
};

using Ids = std::vector<uint64_t>;
using Events = std::vector<EventType>;

TEST_F(SharedReceiveQueueTest, MessagesTakeWqesInOrder) {
  post_range(1, 3);
  message();
  message();
  EXPECT_EQ(received(), (Ids{1, 2}));
  EXPECT_EQ(bytes_at(4096, 8), pattern(8));
  EXPECT_EQ(bytes_at(8192, 8), pattern(8));
  EXPECT_EQ(poster_.queued(), 1u);
}

TEST_F(SharedReceiveQueueTest, SlotsComeBackAsWqesAreTaken) {
  uint64_t id = 1;
  for (int round = 0; round < 5; ++round) {  // more than once around the ring
    while (!full()) post(id++ % 64);
    EXPECT_EQ(poster_.queued(), kDepth);
    for (int i = 0; i < 3; ++i) message();
    EXPECT_EQ(poster_.queued(), kDepth - 3);
    EXPECT_EQ(received().size(), 3u);
  }
}

// case 50: sizes are the shared queue's, whatever the queue pair was created with.
TEST_F(SharedReceiveQueueTest, ScatterListOfTheSharedQueueIsFilledInOrder) {
  post(7, {sge(0, 8), sge(100, 3), sge(200, 5), sge(300, 64)});
  message(40);
  EXPECT_EQ(received(), Ids{7});
  const std::vector<uint8_t> sent = pattern(40);
  EXPECT_EQ(bytes_at(0, 8), std::vector<uint8_t>(sent.begin(), sent.begin() + 8));
  EXPECT_EQ(bytes_at(100, 3), std::vector<uint8_t>(sent.begin() + 8, sent.begin() + 11));
  EXPECT_EQ(bytes_at(200, 5), std::vector<uint8_t>(sent.begin() + 11, sent.begin() + 16));
  EXPECT_EQ(bytes_at(300, 24), std::vector<uint8_t>(sent.begin() + 16, sent.end()));
}

TEST_F(SharedReceiveQueueTest, TwoQueuePairsHoldAWqeEachInTheMiddleOfAMessage) {
  post_range(1, 3);
  first_packet();
  constexpr QpCapabilities kCapabilities = {64, 1, 4, kSges, 64};
  const AlignedBlock queues = aligned_block(qp_memory_bytes(QpType::kRc, kCapabilities));
  auto other = std::make_unique<QpContext>();
  other->queues = carve_qp_memory(QpType::kRc, kCapabilities, queues.get());
  other->send_cq = qp->send_cq;
  other->recv_cq = qp->recv_cq;
  other->qpn = kQpn;
  other->pd = other->recv_pd = kPd;
  other->user = qp->user;
  other->srq = &srq_;
  other->mtu_bytes = qp->mtu_bytes;
  other->attributes = qp->attributes;
  other->resp.expected_psn = kPeerPsn;
  std::swap(qp, other);
  put_state(QpState::kRts);
  message();  // takes the second, and is done before the first
  EXPECT_EQ(received(), Ids{2});
  std::swap(qp, other);
  request({.opcode = Opcode::kRcSendLast, .psn = qp->resp.expected_psn, .payload = pattern(4)});
  EXPECT_EQ(received(), Ids{1});
  EXPECT_EQ(poster_.queued(), 1u);
}

TEST_F(SharedReceiveQueueTest, KeysAreLookedUpInTheDomainOfTheSharedQueue) {
  constexpr Key kElsewhere{0x0203};
  keys.publish(kElsewhere, {buffer.data(), address(0), buffer.size(), kPd + 1, kAllAccess});
  post(1, {sge(0, 64, kElsewhere)});
  qp->recv_pd = srq_.pd = kPd + 1;
  message();
  EXPECT_EQ(received(), Ids{1});
}

TEST_F(SharedReceiveQueueTest, EmptyQueueIsReceiverNotReady) {
  message();
  const std::vector<Sent> refusal = responses();
  ASSERT_EQ(refusal.size(), 1u);
  EXPECT_EQ(refusal[0].aeth().kind(), wire::AethKind::kRnrNak);
  EXPECT_EQ(qp->state, QpState::kRts);
  post(5);
  message();
  EXPECT_EQ(received(), Ids{5});
}

TEST_F(SharedReceiveQueueTest, WriteWithImmediateTakesOneForItsLastPacketOnly) {
  post_range(1, 1);
  const wire::Reth reth{address(65536), kKey, 1028};
  request(
      {.opcode = Opcode::kRcWriteFirst, .psn = kPeerPsn, .payload = pattern(1024), .reth = reth});
  EXPECT_EQ(poster_.queued(), 1u);
  request({.opcode = Opcode::kRcWriteLastImmediate, .psn = kPeerPsn + 1, .payload = pattern(4)});
  EXPECT_EQ(received(), Ids{1});
}

TEST_F(SharedReceiveQueueTest, WqeOfAMessageThatFailsIsGoneAndTellsWhy) {
  post(1, {sge(0, 4)});
  post_range(2, 2);
  message(8);
  const std::vector<Cqe> failed = recv_completions();
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].wr_id, 1u);
  EXPECT_EQ(failed[0].status, WcStatus::kLocLenErr);
  EXPECT_EQ(poster_.queued(), 1u);
  EXPECT_EQ(events(), Events{EventType::kQpLastWqeReached});
}

// case 49
TEST_F(SharedReceiveQueueTest, FailingQueuePairFlushesWhatItHoldsAndLeavesTheRestToOthers) {
  post_range(1, 5);
  message();
  message();
  first_packet();
  EXPECT_EQ(received(), (Ids{1, 2}));
  EXPECT_TRUE(events().empty());
  enter_error(*qp, env);
  const std::vector<Cqe> flushed = recv_completions();
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].wr_id, 3u);
  EXPECT_EQ(flushed[0].status, WcStatus::kWrFlushErr);
  const Events raised = events();
  EXPECT_EQ(std::count(raised.begin(), raised.end(), EventType::kQpLastWqeReached), 1);
  EXPECT_EQ(raised.back(), EventType::kQpLastWqeReached);
  EXPECT_EQ(poster_.queued(), 2u);
  flush(*qp, env);
  EXPECT_TRUE(events().empty());

  share(QpType::kRc);
  message();
  EXPECT_EQ(received(), Ids{4});
}

TEST_F(SharedReceiveQueueTest, QueuePairWithItsOwnReceivesRaisesNoLastWqe) {
  make(QpType::kRc);
  enter_error(*qp, env);
  const Events raised = events();
  EXPECT_EQ(std::count(raised.begin(), raised.end(), EventType::kQpLastWqeReached), 0);
}

TEST_F(SharedReceiveQueueTest, ResetForgetsTheTakenWqeWithoutCompletion) {
  post_range(1, 2);
  first_packet();
  reset_queues(*qp);
  EXPECT_TRUE(recv_completions().empty());
  qp->resp.expected_psn = kPeerPsn;
  message();
  EXPECT_EQ(received(), Ids{2});
}

// SR-01, SR-02
TEST_F(SharedReceiveQueueTest, LimitEventComesOnceWhenFewerAreLeft) {
  post_range(1, 8);
  srq_.limit = 4;
  for (int i = 0; i < 4; ++i) message();
  EXPECT_TRUE(events().empty());
  message();  // three are left
  EXPECT_EQ(events(), Events{EventType::kSrqLimitReached});
  EXPECT_EQ(srq_.limit, 0u);  // SR-07
  message();
  EXPECT_TRUE(events().empty());
  srq_.limit = 2;
  message();
  EXPECT_EQ(events(), Events{EventType::kSrqLimitReached});
}

// SR-04, SR-05
TEST_F(SharedReceiveQueueTest, LimitIsJudgedWhenAWqeIsTaken) {
  post_range(1, 3);
  message();
  EXPECT_TRUE(events().empty());
  srq_.limit = 8;  // fewer are left already
  EXPECT_TRUE(events().empty());
  message();
  EXPECT_EQ(events(), Events{EventType::kSrqLimitReached});
}

TEST_F(SharedReceiveQueueTest, DatagramsTakeFromItAndOneThatIsTooLongEndsItsWqe) {
  share(QpType::kUd);
  post(1, {sge(0, 48)});
  post(2, {sge(64, 48)});
  const PeerPacket fits{
      .opcode = Opcode::kUdSendOnly, .payload = pattern(8), .deth = {kQkey, kPeerQpn}};
  PeerPacket too_long = fits;
  too_long.payload = pattern(9);
  datagram(too_long);
  const std::vector<Cqe> failed = recv_completions();
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].wr_id, 1u);
  EXPECT_EQ(failed[0].status, WcStatus::kLocLenErr);
  EXPECT_EQ(dropped(wire::Drop::kRecvBufferShort), 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
  datagram(fits);
  EXPECT_EQ(received(), Ids{2});
  datagram(fits);
  EXPECT_EQ(dropped(wire::Drop::kRecvQueueEmpty), 1u);
}

TEST_F(SharedReceiveQueueTest, BrokenUnreliableMessageUsesItsWqeUp) {
  share(QpType::kUc);
  post_range(1, 2);
  unreliable({.opcode = Opcode::kUcSendFirst, .psn = kPeerPsn, .payload = pattern(1024)});
  unreliable({.opcode = Opcode::kUcSendOnly, .psn = kPeerPsn + 5, .payload = pattern(8)});
  const std::vector<Cqe> done = recv_completions();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].wr_id, 1u);
  EXPECT_EQ(done[0].status, WcStatus::kRemInvReqErr);
  EXPECT_EQ(done[1].wr_id, 2u);
  EXPECT_EQ(done[1].status, WcStatus::kSuccess);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(SharedReceiveQueueTest, ResizedQueueKeepsOrderAndCountsBothRings) {
  post_range(1, 6);
  poster_.continue_in(*new_ring(7));
  EXPECT_EQ(poster_.queued(), 6u);
  post(7);
  EXPECT_TRUE(full());
  for (int i = 0; i < 3; ++i) message();
  EXPECT_FALSE(full());
  post_range(8, 10);
  EXPECT_TRUE(full());
  srq_.limit = 5;
  for (int i = 0; i < 7; ++i) message();
  EXPECT_EQ(received(), (Ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(events(), Events{EventType::kSrqLimitReached});
  EXPECT_EQ(srq_.current, poster_.posting);
  EXPECT_FALSE(full());
  EXPECT_EQ(poster_.oldest, poster_.posting);
}

TEST_F(SharedReceiveQueueTest, ResizedTwiceWithoutTrafficTheEngineFindsTheLastRing) {
  poster_.continue_in(*new_ring(2));
  poster_.continue_in(*new_ring(4));
  post_range(1, 4);
  EXPECT_TRUE(full());
  message();
  EXPECT_EQ(received(), Ids{1});
  EXPECT_EQ(srq_.current, poster_.posting);
}

}  // namespace
}  // namespace uroce::transport
