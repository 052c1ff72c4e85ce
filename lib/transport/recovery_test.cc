// SPDX-License-Identifier: BSD-3-Clause
// Tests of what is sent again after a NAK 0x60: for peers that keep early packets and for those
// that do not.
#include "transport/recovery.h"

#include "transport/qp_fixture.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

class RecoveryTest : public QpFixture {
 protected:
  RecoveryTest() { env.tail_probe = false; }
  static Psn at(uint32_t offset) { return kLocalPsn + offset; }
  void post(uint32_t packets) {
    post_send({.opcode = WrOpcode::kRdmaWrite, .sges = {sge(0, packets * 1024)}});
  }
  void answer(Psn psn, uint8_t syndrome) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  void ack(uint32_t offset) { answer(at(offset), Aeth::kAckNoCredits); }
  void nak(uint32_t offset) { answer(at(offset), Aeth::nak(NakCode::kPsnSequence)); }
  // The PSNs that leave now, as offsets.
  std::vector<uint32_t> sent(size_t most = 4096) {
    std::vector<uint32_t> offsets;
    for (const Sent& packet : requests(most)) {
      offsets.push_back((packet.frame.psn - kLocalPsn.value()).value());
    }
    return offsets;
  }
  static std::vector<uint32_t> range(uint32_t from, uint32_t to) {
    std::vector<uint32_t> offsets(to - from);
    std::iota(offsets.begin(), offsets.end(), from);
    return offsets;
  }
  // The peer shows that it keeps: of 20 packets it lacks the first.
  void learn() {
    post(20);
    ASSERT_EQ(sent(), range(0, 20));
    nak(0);
    ASSERT_EQ(sent(4), range(0, 4));
    ack(19);
    ASSERT_TRUE(sent().empty());
    ASSERT_TRUE(qp->req.peer_keeps);
    base_ = 20;
  }
  uint32_t base_ = 0;
};

// case 17
TEST_F(RecoveryTest, AStrangerIsSentEverythingFromTheNamedPacketOn) {
  post(10);
  sent();
  nak(2);
  EXPECT_EQ(sent(), range(2, 10));
  EXPECT_FALSE(qp->req.peer_keeps);
}

TEST_F(RecoveryTest, AnAckThatPassesWhatWasSentAgainShowsThatThePeerKeeps) {
  post(20);
  sent();
  nak(3);
  EXPECT_EQ(sent(5), range(3, 8));
  ack(14);
  EXPECT_TRUE(qp->req.peer_keeps);
  EXPECT_TRUE(sent().empty());  // what is behind 14 is on its way, or will be named
  nak(15);
  EXPECT_EQ(sent(), range(15, 16));
}

// The NAK was for a packet that another had overtaken; a strict peer takes it when it comes.
TEST_F(RecoveryTest, APacketThatWasOnlyLateDoesNotShowThatThePeerKeeps) {
  for (const size_t sent_again : {0, 1, 5}) {
    make(QpType::kRc);
    post(20);
    sent();
    nak(3);
    EXPECT_EQ(sent(sent_again).size(), sent_again);
    ack(3 + static_cast<uint32_t>(sent_again));
    EXPECT_FALSE(qp->req.peer_keeps);
    EXPECT_EQ(sent(), range(4 + static_cast<uint32_t>(sent_again), 20));
  }
}

TEST_F(RecoveryTest, AnAckOfWhatWasSentAgainShowsNothing) {
  post(20);
  sent();
  nak(3);
  EXPECT_EQ(sent(5), range(3, 8));
  ack(7);
  EXPECT_FALSE(qp->req.peer_keeps);
  EXPECT_EQ(sent(), range(8, 20));
}

TEST_F(RecoveryTest, APeerThatKeepsIsSentTheNamedPacketAloneAndThenNewOnes) {
  learn();
  post(10);
  EXPECT_EQ(sent(), range(20, 30));
  nak(22);
  post(2);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(packets[0].frame.psn, at(22));
  EXPECT_EQ(packets[0].opcode(), Opcode::kRcWriteMiddle);
  EXPECT_TRUE(packets[0].frame.ack_request());
  EXPECT_EQ(packets[1].frame.psn, at(30));
  EXPECT_EQ(packets[1].opcode(), Opcode::kRcWriteFirst);
  EXPECT_EQ(packets[2].frame.psn, at(31));
  ack(31);
  EXPECT_EQ(send_completions().size(), 3u);
  EXPECT_EQ(qp->req.recovery, Recovery::kNone);
  EXPECT_EQ(qp->req.window, kUnackedPsnsMax);
}

TEST_F(RecoveryTest, TheRepairInsideAMessageThatIsNotAllSentComesBackToItsPlace) {
  learn();
  post(10);
  EXPECT_EQ(sent(6), range(20, 26));
  nak(21);
  EXPECT_EQ(sent(), (std::vector<uint32_t>{21, 26, 27, 28, 29}));
}

TEST_F(RecoveryTest, EachGapHasItsRepair) {
  learn();
  post(20);
  sent();
  nak(21);
  EXPECT_EQ(sent(), range(21, 22));
  ack(24);
  nak(25);
  EXPECT_EQ(sent(), range(25, 26));
  nak(33);
  EXPECT_EQ(sent(), range(33, 34));
  ack(39);
  EXPECT_TRUE(qp->req.peer_keeps);
  EXPECT_EQ(send_completions().size(), 2u);
  EXPECT_EQ(qp->req.retry_left, 3);
}

// The peer has dropped what it was believed to keep.
TEST_F(RecoveryTest, AnAckOfTheRepairAndNoMoreBringsTheRest) {
  learn();
  post(10);
  sent();
  nak(22);
  EXPECT_EQ(sent(), range(22, 23));
  ack(22);
  EXPECT_EQ(sent(), range(23, 30));
  EXPECT_FALSE(qp->req.peer_keeps);
}

TEST_F(RecoveryTest, ANakOfThePacketBehindTheRepairBringsTheRest) {
  learn();
  post(10);
  sent();
  nak(22);
  EXPECT_EQ(sent(), range(22, 23));
  nak(23);
  EXPECT_EQ(sent(), range(23, 30));
  EXPECT_FALSE(qp->req.peer_keeps);
}

TEST_F(RecoveryTest, ARepairOfTheLastPacketProvesNothing) {
  learn();
  post(1);
  post(1);
  sent();
  nak(21);
  EXPECT_EQ(sent(), range(21, 22));
  ack(21);
  EXPECT_TRUE(qp->req.peer_keeps);
  EXPECT_TRUE(sent().empty());
}

// case 17: what the NAK acknowledged is not sent again, first by repair, then by time-out.
TEST_F(RecoveryTest, ATimeoutSendsEverythingFromTheRepairOn) {
  learn();
  post(4);
  sent();
  nak(22);
  EXPECT_EQ(sent(), range(22, 23));
  env.now = next_deadline(*qp);
  handle_deadline(*qp, env);
  EXPECT_EQ(sent(), range(22, 24));
  EXPECT_EQ(qp->req.retry_left, 1);  // the NAK and the time-out
}

TEST_F(RecoveryTest, WhileARepairIsUnderWayThePeerNeedNotKeepMoreThanHalfAWindow) {
  learn();
  for (int i = 0; i < 60; ++i) post(20);
  sent(10);
  nak(21);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 1 + kRepairWindow - 9);
  EXPECT_EQ(packets.back().frame.psn, at(21 + kRepairWindow - 1));
  EXPECT_TRUE(packets.back().frame.ack_request());
}

TEST_F(RecoveryTest, ADuplicatedNakRepairsOnce) {
  learn();
  post(10);
  sent();
  nak(22);
  EXPECT_EQ(sent(), range(22, 23));
  nak(22);
  EXPECT_TRUE(sent().empty());
}

TEST_F(RecoveryTest, SwitchedOffItIsGoBackNForEver) {
  env.selective_repeat = false;
  post(20);
  sent();
  nak(0);
  sent(4);
  ack(14);
  EXPECT_FALSE(qp->req.peer_keeps);
  EXPECT_EQ(sent(), range(15, 20));
}

TEST_F(RecoveryTest, ALostReadRequestIsAskedForAgainAlone) {
  learn();
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 3000)}});
  post(2);
  sent();
  nak(20);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].opcode(), Opcode::kRcReadRequest);
  EXPECT_EQ(packets[0].reth().length_bytes, 3000u);
  response({.opcode = Opcode::kRcReadResponseFirst, .psn = at(20), .payload = pattern(1024)});
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(qp->req.peer_keeps);
}

TEST_F(RecoveryTest, ABadBufferFoundByTheRepairFailsItsRequest) {
  learn();
  post(4);
  post(1);
  sent();
  keys.unpublish(kKey);
  nak(21);
  EXPECT_TRUE(requests().empty());
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 3u);  // that of learn() first
  EXPECT_EQ(cqes[1].status, WcStatus::kLocProtErr);
  EXPECT_EQ(cqes[2].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(qp->state, QpState::kErr);
}

}  // namespace
}  // namespace uroce::transport
