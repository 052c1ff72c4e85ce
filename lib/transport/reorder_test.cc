// SPDX-License-Identifier: BSD-3-Clause
// Tests of early request packets: kept, taken in their turn, bounded and forgotten.
#include "transport/reorder.h"

#include <random>

#include "transport/qp_fixture.h"
#include "transport/qp_state.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::Drop;
using wire::NakCode;
using wire::Opcode;

constexpr uint8_t kSequenceNak = Aeth::nak(NakCode::kPsnSequence);
constexpr uint32_t kPacketsMax = 600;

class Reorder : public QpFixture {
 protected:
  Reorder() { env.reorder = &reorder; }
  static Psn at(uint32_t offset) { return kPeerPsn + offset; }
  // A SEND of 8 bytes, all of them `offset`.
  void send(uint32_t offset, bool ack_request = false) {
    request({.opcode = Opcode::kRcSendOnly,
             .psn = at(offset),
             .payload = std::vector<uint8_t>(8, static_cast<uint8_t>(offset)),
             .ack_request = ack_request});
  }
  void write(uint32_t offset, size_t to, bool ack_request = false) {
    request({.opcode = Opcode::kRcWriteOnly,
             .psn = at(offset),
             .payload = pattern(8, 0x40),
             .ack_request = ack_request,
             .reth = {address(to), kKey, 8}});
  }
  void post_recvs(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) post_recv(size_t{posted_} * 64, 64, posted_), ++posted_;
  }
  void expect_answers(const std::vector<std::pair<uint8_t, Psn>>& expected) {
    const std::vector<Sent> answers = responses();
    ASSERT_EQ(answers.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(answers[i].opcode(), Opcode::kRcAcknowledge) << i;
      EXPECT_EQ(answers[i].aeth().syndrome, expected[i].first) << i;
      EXPECT_EQ(answers[i].frame.psn, expected[i].second) << i;
    }
  }
  void expect_nothing_kept() {
    EXPECT_EQ(qp->resp.kept_count, 0u);
    EXPECT_EQ(reorder.free_count(), kPacketsMax);
  }
  ReorderBuffer reorder{kPacketsMax};
  uint32_t posted_ = 0;
};

TEST_F(Reorder, EarlyPacketsWaitForTheirTurnAndThenTheAckJumps) {
  post_recvs(3);
  send(1);
  send(2, true);
  expect_answers({{kSequenceNak, at(0)}});
  EXPECT_TRUE(recv_completions().empty());
  EXPECT_EQ(counters.out_of_order_kept.value(), 2u);
  advance(std::chrono::milliseconds(1));
  send(0, true);
  expect_answers({{Aeth::kAckNoCredits, at(2)}});
  const std::vector<Cqe> cqes = recv_completions();
  ASSERT_EQ(cqes.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cqes[i].wr_id, i);
    EXPECT_EQ(bytes_at(size_t{i} * 64, 8), std::vector<uint8_t>(8, static_cast<uint8_t>(i)));
  }
  EXPECT_EQ(cqes[0].arrival_ns - cqes[1].arrival_ns, 1'000'000);  // each with its own time
  EXPECT_EQ(qp->resp.msn, 3u);
  expect_nothing_kept();
}

TEST_F(Reorder, TheAckJumpsAlsoWhenNoPacketAskedForIt) {
  post_recvs(3);
  send(1);
  send(2);
  responses();
  send(0);
  expect_answers({{Aeth::kAckNoCredits, at(2)}});
}

TEST_F(Reorder, NothingIsSeenOfAKeptWriteBeforeItsTurn) {
  write(1, 4096);
  responses();
  EXPECT_EQ(bytes_at(4096, 8), std::vector<uint8_t>(8, 0));
  EXPECT_EQ(counters.rx_write_requests.value(), 0u);
  write(0, 8192);
  EXPECT_EQ(bytes_at(4096, 8), pattern(8, 0x40));
  EXPECT_EQ(counters.rx_write_requests.value(), 2u);
}

TEST_F(Reorder, AMessageIsPutTogetherFromPartsInAnyOrder) {
  const auto part = [&](uint32_t offset, Opcode opcode) {
    request({.opcode = opcode,
             .psn = at(offset),
             .payload = std::vector<uint8_t>(1024, static_cast<uint8_t>(offset + 1)),
             .ack_request = opcode == Opcode::kRcWriteLast,
             .reth = {address(0), kKey, 3072}});
  };
  part(2, Opcode::kRcWriteLast);
  part(1, Opcode::kRcWriteMiddle);
  expect_answers({{kSequenceNak, at(0)}});
  part(0, Opcode::kRcWriteFirst);
  expect_answers({{Aeth::kAckNoCredits, at(2)}});
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(bytes_at(size_t{i} * 1024, 1024),
              std::vector<uint8_t>(1024, static_cast<uint8_t>(i + 1)));
  }
}

TEST_F(Reorder, TheNextGapHasItsNakAtOnceAndOnlyOne) {
  post_recvs(6);
  send(1);
  send(3);
  send(5);
  expect_answers({{kSequenceNak, at(0)}});
  send(0);
  expect_answers({{Aeth::kAckNoCredits, at(1)}, {kSequenceNak, at(2)}});
  send(3);  // again
  expect_answers({});
  send(2);
  expect_answers({{Aeth::kAckNoCredits, at(3)}, {kSequenceNak, at(4)}});
  send(4);
  expect_answers({{Aeth::kAckNoCredits, at(5)}});
  EXPECT_EQ(recv_completions().size(), 6u);
  EXPECT_EQ(counters.out_of_sequence.value(), 3u);
  expect_nothing_kept();
}

// A peer that goes back sends the rest of the gap right behind: a NAK for each would make it go
// back again and again.
TEST_F(Reorder, AGapThatBecomesShorterIsNamedAgainOnlyWhenThePeerGoesOnBehindIt) {
  post_recvs(6);
  send(3);
  expect_answers({{kSequenceNak, at(0)}});
  send(0, true);
  expect_answers({{Aeth::kAckNoCredits, at(0)}});
  send(4);
  expect_answers({{kSequenceNak, at(1)}});
  send(1);
  send(2);
  expect_answers({{Aeth::kAckNoCredits, at(4)}});
}

TEST_F(Reorder, ADuplicateOfAKeptPacketIsDroppedByName) {
  send(1);
  responses();
  send(1);
  expect_answers({});
  EXPECT_EQ(dropped(Drop::kDuplicate), 1u);
  EXPECT_EQ(qp->resp.kept_count, 1u);
}

TEST_F(Reorder, WithoutABufferEveryEarlyPacketIsDropped) {
  env.reorder = nullptr;
  send(1);
  send(2);
  expect_answers({{kSequenceNak, at(0)}});
  EXPECT_EQ(dropped(Drop::kOutOfOrder), 2u);
  EXPECT_EQ(counters.out_of_order_kept.value(), 0u);
}

TEST_F(Reorder, AQueuePairKeepsSoManyAndNoMore) {
  for (uint32_t i = 1; i <= kKeptPerQpMax; ++i) send(i);
  EXPECT_EQ(dropped(Drop::kReorderFull), 0u);
  send(kKeptPerQpMax + 1);
  EXPECT_EQ(dropped(Drop::kReorderFull), 1u);
  EXPECT_EQ(qp->resp.kept_count, kKeptPerQpMax);
}

TEST_F(Reorder, AFullBufferDropsByName) {
  ReorderBuffer small(2);
  env.reorder = &small;
  for (uint32_t i = 1; i <= 3; ++i) send(i);
  EXPECT_EQ(dropped(Drop::kReorderFull), 1u);
  post_recvs(4);
  send(0);
  expect_answers({{Aeth::kAckNoCredits, at(2)}});
  EXPECT_EQ(small.free_count(), 2u);
}

// case 25: a packet of the number's former life would wait for a turn that is not its own.
TEST_F(Reorder, APacketFarAheadIsNotKept) {
  send(kKeptAheadMax + 1);
  EXPECT_EQ(dropped(Drop::kOutOfOrder), 1u);
  send(kKeptAheadMax);
  EXPECT_EQ(qp->resp.kept_count, 1u);
  request({.opcode = Opcode::kRcSendOnly, .psn = kPeerPsn + 0x7FFFFF});
  EXPECT_EQ(qp->resp.kept_count, 1u);
}

// case 19: one RNR NAK, no NAK 0x60 behind it.
TEST_F(Reorder, WhileTheReceiverIsNotReadyNothingIsKept) {
  send(1);
  send(2);
  responses();
  send(0);
  expect_answers({{Aeth::rnr_nak(12), at(0)}});
  expect_nothing_kept();
  send(1);
  expect_answers({});
  EXPECT_EQ(dropped(Drop::kOutOfOrder), 1u);
  expect_nothing_kept();
  post_recvs(2);
  send(0, true);
  expect_answers({{Aeth::kAckNoCredits, at(0)}});
}

TEST_F(Reorder, AKeptPacketThatFindsNoReceiveIsRefusedInItsTurn) {
  post_recvs(2);
  send(1);
  send(2);
  send(3);
  responses();
  send(0, true);
  expect_answers({{Aeth::kAckNoCredits, at(0)}, {Aeth::rnr_nak(12), at(2)}});
  EXPECT_EQ(recv_completions().size(), 2u);
  expect_nothing_kept();
}

TEST_F(Reorder, ARefusalInItsTurnNamesTheKeptPacketAndForgetsTheRest) {
  request({.opcode = Opcode::kRcSendMiddle, .psn = at(1), .payload = pattern(1024)});
  send(2);
  expect_answers({{kSequenceNak, at(0)}});
  EXPECT_EQ(qp->state, QpState::kRts);
  post_recvs(3);
  send(0);
  const std::vector<Sent> answers = responses();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].aeth().syndrome, Aeth::nak(NakCode::kInvalidRequest));
  EXPECT_EQ(answers[0].frame.psn, at(1));
  EXPECT_EQ(qp->state, QpState::kErr);
  expect_nothing_kept();
}

TEST_F(Reorder, ErrorAndResetForgetWhatIsKept) {
  for (const QpState state : {QpState::kErr, QpState::kReset}) {
    make(QpType::kRc);
    for (uint32_t i = 1; i < 10; ++i) send(i);
    ASSERT_EQ(qp->resp.kept_count, 9u);
    QpAttributes attributes;
    attributes.state = state;
    ASSERT_EQ(apply_modify(*qp, env, attributes, kAttrState), 0);
    expect_nothing_kept();
  }
}

TEST_F(Reorder, QueuePairsDoNotTakeEachOthersPackets) {
  send(1);
  const std::unique_ptr<QpContext> first = std::move(qp);
  QpQueues* const queues = first->queues;
  const PeerPacket other{.opcode = Opcode::kRcSendOnly, .psn = at(1), .payload = pattern(8)};
  qp = std::make_unique<QpContext>();
  qp->queues = queues;
  qp->qpn = Qpn(0x77);
  qp->state = QpState::kRts;
  qp->mtu_bytes = 1024;
  qp->resp.expected_psn = kPeerPsn;
  request(other);
  EXPECT_EQ(qp->resp.kept_count, 1u);
  EXPECT_EQ(reorder.free_count(), kPacketsMax - 2);
  forget_kept(*qp, env);
  EXPECT_EQ(first->resp.kept_count, 1u);
  EXPECT_EQ(reorder.free_count(), kPacketsMax - 1);
}

TEST_F(Reorder, AnswersKeepTheOrderOfTheRequests) {
  post_recvs(2);
  request({.opcode = Opcode::kRcReadRequest, .psn = at(1), .reth = {address(0), kKey, 2000}});
  send(3, true);
  expect_answers({{kSequenceNak, at(0)}});
  send(0, true);
  const std::vector<Sent> answers = responses();
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0].frame.psn, at(0));
  EXPECT_EQ(answers[1].opcode(), Opcode::kRcReadResponseFirst);
  EXPECT_EQ(answers[1].frame.psn, at(1));
  EXPECT_EQ(answers[2].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(answers[3].frame.psn, at(3));
}

TEST_F(Reorder, PacketsWithThePsnsOfAReadResponseAreForgotten) {
  send(2);
  send(4);
  responses();
  request({.opcode = Opcode::kRcReadRequest, .psn = at(0), .reth = {address(0), kKey, 4096}});
  const std::vector<Sent> answers = responses();
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[4].frame.psn, at(4));  // was next, and met an empty receive queue
  EXPECT_EQ(answers[4].aeth().syndrome, Aeth::rnr_nak(12));
  EXPECT_EQ(dropped(Drop::kDuplicate), 1u);
  expect_nothing_kept();
}

// case 13, part of it ahead of its turn.
TEST_F(Reorder, AReplayedReadDoesNotDisturbAWriteOfWhichAPartIsKept) {
  const PeerPacket read{
      .opcode = Opcode::kRcReadRequest, .psn = at(0), .reth = {address(0), kKey, 3072}};
  const PeerPacket first{.opcode = Opcode::kRcWriteFirst,
                         .psn = at(3),
                         .payload = pattern(1024),
                         .ack_request = false,
                         .reth = {address(65536), kKey, 3072}};
  request(read);
  EXPECT_EQ(responses().size(), 3u);
  request(first);
  request({.opcode = Opcode::kRcWriteLast, .psn = at(5), .payload = pattern(1024)});
  expect_answers({{kSequenceNak, at(4)}});
  request(read);
  EXPECT_EQ(responses().size(), 3u);
  request(first);
  expect_answers({{Aeth::kAckNoCredits, at(3)}});
  request({.opcode = Opcode::kRcWriteMiddle,
           .psn = at(4),
           .payload = pattern(1024),
           .ack_request = false});
  expect_answers({{Aeth::kAckNoCredits, at(5)}});
  expect_nothing_kept();
}

class Shuffled : public Reorder, public ::testing::WithParamInterface<uint32_t> {};

TEST_P(Shuffled, MessagesAreTakenOnceAndInOrderWhateverTheOrderOfArrival) {
  qp->resp.expected_psn = Psn(0xFFFFE0);  // through the wrap
  std::mt19937 random(GetParam());
  constexpr uint32_t kMessages = 60;
  post_recvs(kMessages);
  std::vector<uint32_t> order(kMessages);
  std::iota(order.begin(), order.end(), 0u);
  while (qp->resp.expected_psn != Psn(0xFFFFE0) + kMessages) {
    std::shuffle(order.begin(), order.end(), random);
    for (const uint32_t i : order) {
      if (random() % 4 == 0) continue;  // lost
      request({.opcode = Opcode::kRcSendOnly,
               .psn = Psn(0xFFFFE0) + i,
               .payload = std::vector<uint8_t>(8, static_cast<uint8_t>(i))});
      responses();
    }
  }
  const std::vector<Cqe> cqes = recv_completions();
  ASSERT_EQ(cqes.size(), kMessages);
  for (uint32_t i = 0; i < kMessages; ++i) {
    EXPECT_EQ(cqes[i].wr_id, i);
    EXPECT_EQ(buffer[size_t{i} * 64], i);
  }
  expect_nothing_kept();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Shuffled, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace uroce::transport
