// SPDX-License-Identifier: BSD-3-Clause
// Tests of the round trip's measure and of the tail-loss probe.
#include "transport/tail_probe.h"

#include "transport/qp_fixture.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using std::chrono::microseconds;
using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

class TailProbe : public QpFixture {
 protected:
  static constexpr Duration kRoundTrip = microseconds(100);
  static Psn at(uint32_t offset) { return kLocalPsn + offset; }
  void post(uint32_t length = 8) {
    post_send({.opcode = WrOpcode::kRdmaWrite, .sges = {sge(0, length)}});
  }
  void answer(Psn psn, uint8_t syndrome) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  void ack(uint32_t offset) { answer(at(offset), Aeth::kAckNoCredits); }
  void nak(uint32_t offset) { answer(at(offset), Aeth::nak(NakCode::kPsnSequence)); }
  std::vector<uint32_t> sent() {
    std::vector<uint32_t> offsets;
    for (const Sent& packet : requests()) {
      offsets.push_back((packet.frame.psn - kLocalPsn.value()).value());
    }
    return offsets;
  }
  // One message there and back; the next PSN is 1.
  void measure() {
    post();
    requests();
    advance(kRoundTrip);
    ack(0);
    ASSERT_EQ(qp->req.srtt_ns, 100'000u);
  }
  void to_deadline() {
    ASSERT_NE(next_deadline(*qp), kNever);
    env.now = next_deadline(*qp);
    handle_deadline(*qp, env);
  }
  uint64_t probes() const { return counters.tail_probes.value(); }
};

TEST_F(TailProbe, ThereIsNoneBeforeTheFirstRoundTripIsKnown) {  // case 22, TM-11
  post();
  requests();
  EXPECT_EQ(next_deadline(*qp), env.now + ack_timeout(14));
}

TEST_F(TailProbe, ItComesAfterTwoRoundTripsFourVariationsAndAFloor) {
  measure();
  EXPECT_EQ(next_deadline(*qp), kNever);
  post();
  requests();
  EXPECT_EQ(next_deadline(*qp), env.now + 2 * kRoundTrip + 4 * kRoundTrip / 2 + kProbeFloor);
  to_deadline();
  EXPECT_EQ(sent(), std::vector<uint32_t>{1});
  EXPECT_EQ(probes(), 1u);
}

TEST_F(TailProbe, TheRoundTripIsSmoothed) {
  measure();
  EXPECT_EQ(qp->req.rtt_variation_ns, 50'000u);
  post();
  requests();
  advance(microseconds(180));
  ack(1);
  EXPECT_EQ(qp->req.srtt_ns, 110'000u);
  EXPECT_EQ(qp->req.rtt_variation_ns, 57'500u);
}

// A NAK ends the timing of what may be sent again. With a loss in every window no packet that asks
// would ever be timed to its end; the NAK itself says that the packets before it have arrived.
TEST_F(TailProbe, TheFirstRoundTripIsThatOfAnyPacket) {
  post(4096);
  ASSERT_EQ(sent().size(), 4u);
  advance(kRoundTrip);
  nak(2);
  EXPECT_EQ(qp->req.srtt_ns, 100'000u);
}

// Later only what asks is timed: the rest is answered when the peer likes.
TEST_F(TailProbe, APacketThatDoesNotAskIsNoLaterMeasure) {
  measure();
  post(4096);
  ASSERT_EQ(sent().size(), 4u);
  advance(microseconds(5000));
  ack(2);
  EXPECT_EQ(qp->req.srtt_ns, 100'000u);
}

TEST_F(TailProbe, TheMeasureFollowsARoundTripThatHasGrown) {
  measure();
  for (uint32_t message = 1; message <= 100; ++message) {
    post();
    requests();
    const Time answer = env.now + microseconds(10'000);
    while (next_deadline(*qp) < answer) {
      to_deadline();
      requests();
    }
    env.now = answer;
    ack(message);
    send_completions();
  }
  EXPECT_NEAR(qp->req.srtt_ns, 10'000'000, 100'000);
  EXPECT_LT(probes(), 20u);
}

TEST_F(TailProbe, APacketThatARecoverySendsAgainIsNoMeasure) {
  measure();
  post();
  post();
  requests();
  nak(1);
  requests();
  advance(microseconds(5000));
  ack(2);
  EXPECT_EQ(qp->req.srtt_ns, 100'000u);
}

TEST_F(TailProbe, OldestAndNewestLeaveOnceMoreAndAskForAnAck) {
  measure();
  post(4096);
  ASSERT_EQ(requests().size(), 4u);
  to_deadline();
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].frame.psn, at(1));
  EXPECT_EQ(packets[1].frame.psn, at(4));
  EXPECT_TRUE(packets[0].frame.ack_request());
  EXPECT_TRUE(packets[1].frame.ack_request());
  ack(4);
  EXPECT_EQ(next_deadline(*qp), kNever);
  EXPECT_EQ(send_completions().size(), 2u);
}

TEST_F(TailProbe, EachWaitsTwiceAsLongAndNoneCostsARetry) {
  measure();
  qp->attributes.timeout = 18;
  post();
  requests();
  const Time ack_deadline = qp->req.ack_deadline;
  Duration wait = next_deadline(*qp) - env.now;
  for (int i = 0; i < 5; ++i) {
    to_deadline();
    EXPECT_EQ(sent(), std::vector<uint32_t>{1});
    wait *= 2;
    EXPECT_EQ(next_deadline(*qp) - env.now, wait);
  }
  EXPECT_EQ(qp->req.ack_deadline, ack_deadline);
  EXPECT_EQ(qp->req.retry_left, 3);
  EXPECT_EQ(counters.local_ack_timeout_err.value(), 0u);
}

// TM-11 with probes on: as many time-outs, as far apart, and then the same end.
TEST_F(TailProbe, AQueuePairFailsNoSoonerThanItsTimeoutAndRetriesSay) {
  measure();
  qp->attributes.timeout = 12;
  post();
  requests();
  const Time start = env.now;
  while (qp->state == QpState::kRts) {
    to_deadline();
    requests();
  }
  EXPECT_GE(env.now - start, 4 * ack_timeout(12));
  EXPECT_LE(env.now - start, 4 * ack_timeout(12) + microseconds(10));
  EXPECT_EQ(counters.local_ack_timeout_err.value(), 4u);
  EXPECT_EQ(send_completions().back().status, WcStatus::kRetryExcErr);
}

TEST_F(TailProbe, ANakThatAProbeBringsCostsNoRetry) {
  qp->attributes.retry_count = qp->req.retry_left = 0;
  measure();
  post(3072);
  requests();
  to_deadline();
  sent();
  nak(1);
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_EQ(sent(), (std::vector<uint32_t>{1, 2, 3}));
}

TEST_F(TailProbe, WhatTheAnswerToAProbeDoesNotCoverIsSentAgainAtOnce) {
  measure();
  post(4096);
  requests();
  to_deadline();
  EXPECT_EQ(sent(), (std::vector<uint32_t>{1, 4}));
  ack(2);  // to the duplicate: it has 1 and 2
  EXPECT_EQ(sent(), (std::vector<uint32_t>{3, 4}));
}

TEST_F(TailProbe, APeerThatKeepsIsSentOnlyWhatItLacks) {
  measure();
  qp->req.peer_keeps = true;
  post(4096);
  requests();
  to_deadline();
  sent();
  ack(2);
  EXPECT_EQ(sent(), std::vector<uint32_t>{3});
  nak(3);  // behind the ACK, of the newest: says the same
  EXPECT_TRUE(sent().empty());
  ack(4);
  EXPECT_EQ(send_completions().size(), 2u);
}

TEST_F(TailProbe, OfAReadTheRestIsAskedFor) {  // case 16
  measure();
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 4096)}, .remote_address = 0x9000});
  requests();
  response({.opcode = Opcode::kRcReadResponseFirst, .psn = at(1), .payload = pattern(1024)});
  to_deadline();
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].frame.psn, at(2));
  EXPECT_EQ(packets[0].reth().address, 0x9000u + 1024);
  EXPECT_EQ(packets[0].reth().length_bytes, 3072u);
}

TEST_F(TailProbe, AWaitForTheReceiverIsNotProbed) {  // case 19
  measure();
  post();
  post();
  requests();
  answer(at(1), Aeth::rnr_nak(22));
  EXPECT_EQ(next_deadline(*qp), env.now + microseconds(20480));
  to_deadline();
  EXPECT_EQ(sent(), std::vector<uint32_t>{1});
  to_deadline();                                // now silence
  EXPECT_EQ(sent(), std::vector<uint32_t>{1});  // and nothing behind it
  EXPECT_EQ(probes(), 1u);
}

TEST_F(TailProbe, ATimeoutOfForEverIsProbedToo) {
  qp->attributes.timeout = 0;
  measure();
  post();
  requests();
  const Time deadline = next_deadline(*qp);
  ASSERT_NE(deadline, kNever);
  advance(microseconds(50));
  post();
  requests();
  EXPECT_EQ(next_deadline(*qp), deadline);  // sending is not hearing
  to_deadline();
  EXPECT_EQ(sent(), (std::vector<uint32_t>{1, 2}));
}

TEST_F(TailProbe, SwitchedOffThereIsOnlyTheAckTimer) {
  env.tail_probe = false;
  post();
  requests();
  advance(kRoundTrip);
  ack(0);
  post();
  requests();
  EXPECT_EQ(next_deadline(*qp), env.now + ack_timeout(14));
}

TEST_F(TailProbe, APortThatTakesNothingIsNoReasonToProbe) {
  measure();
  for (int i = 0; i < 3; ++i) post();
  requests();
  nak(1);
  ASSERT_EQ(requests(1).size(), 1u);
  to_deadline();
  EXPECT_EQ(probes(), 0u);
  EXPECT_EQ(sent(), (std::vector<uint32_t>{2, 3}));
}

// The first 65 packets of a message ask for nothing.
TEST_F(TailProbe, WhatAsksForNoAnswerIsNotOverdue) {
  measure();
  post(80 * 1024);
  ASSERT_EQ(requests(60).size(), 60u);
  EXPECT_EQ(qp->req.probe_deadline, kNever);
  requests(6);
  EXPECT_NE(qp->req.probe_deadline, kNever);
  ack(66);
  EXPECT_EQ(qp->req.probe_deadline, kNever);
  requests();
  EXPECT_NE(qp->req.probe_deadline, kNever);
}

TEST_F(TailProbe, AReadIsOverdueUntilItsLastPacketIsThere) {
  measure();
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 2048)}});
  requests();
  response({.opcode = Opcode::kRcReadResponseFirst, .psn = at(1), .payload = pattern(1024)});
  EXPECT_NE(qp->req.probe_deadline, kNever);
  response({.opcode = Opcode::kRcReadResponseLast, .psn = at(2), .payload = pattern(1024)});
  EXPECT_EQ(qp->req.probe_deadline, kNever);
}

}  // namespace
}  // namespace uroce::transport
