// SPDX-License-Identifier: BSD-3-Clause
// Tests of the waits that RNR NAKs ask for: their table, their counter, and what they hold back.
#include "transport/retry_fixture.h"

namespace uroce::transport {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

class RnrWait : public RetryFixture {};

TEST(RnrDelay, IsTheTableOfTheStandard) {
  constexpr int64_t kHundredthsOfMs[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                           16,    24,   32,   48,    64,    96,    128,   192,
                                           256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                           4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
  for (uint8_t code = 0; code < 32; ++code) {
    EXPECT_EQ(rnr_delay(code), microseconds(10) * kHundredthsOfMs[code]) << int{code};
  }
}

TEST_F(RnrWait, RnrWithoutRetriesFailsAtOnce) {  // TM-12
  qp->attributes.rnr_retry = qp->req.rnr_left = 0;
  post(1);
  requests();
  rnr(kLocalPsn, 12);
  expect_failed(WcStatus::kRnrRetryExcErr, 0);
  EXPECT_EQ(counters.rnr_nak_retry_err.value(), 1u);
}

TEST_F(RnrWait, RnrRetryTwoMeansThreeSends) {  // as captured in nak-rnr-out
  qp->attributes.rnr_retry = qp->req.rnr_left = 2;
  post(1);
  for (int sends = 0; sends < 3; ++sends) {
    ASSERT_EQ(requests().size(), 1u);
    rnr(kLocalPsn, 1);
    to_deadline();
  }
  expect_failed(WcStatus::kRnrRetryExcErr, 0);
}

TEST_F(RnrWait, RnrRetrySevenIsEndless) {  // TM-13
  qp->attributes.rnr_retry = qp->req.rnr_left = 7;
  post(1);
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(requests().size(), 1u);
    rnr(kLocalPsn, 1);
    ASSERT_TRUE(to_deadline());
  }
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_EQ(counters.rnr_nak_received.value(), 25u);
}

TEST_F(RnrWait, TimeoutsBetweenRnrNaksDoNotAddUp) {
  qp->attributes.rnr_retry = qp->req.rnr_left = 7;
  post(1);
  for (int i = 0; i < 10; ++i) {
    requests();
    rnr(kLocalPsn, 1);
    ASSERT_TRUE(to_deadline());  // the wait is over
    for (int lost = 0; lost < 3; ++lost) {
      ASSERT_EQ(requests().size(), 1u);
      ASSERT_TRUE(to_deadline()) << "round " << i;
    }
    ASSERT_EQ(qp->state, QpState::kRts) << "round " << i;
  }
  EXPECT_EQ(counters.local_ack_timeout_err.value(), 30u);
}

TEST_F(RnrWait, APeerThatFallsSilentAfterItsRnrNaksGetsItsRetriesAndNoMore) {
  qp->attributes.rnr_retry = qp->req.rnr_left = 7;
  post(1);
  requests();
  ASSERT_TRUE(to_deadline());
  for (int i = 0; i < 5; ++i) {
    requests();
    rnr(kLocalPsn, 1);
    ASSERT_TRUE(to_deadline());
  }
  size_t sends = 0;
  do {
    sends += requests().size();
  } while (to_deadline());
  EXPECT_EQ(sends, 4u);
  expect_failed(WcStatus::kRetryExcErr, 0);
}

TEST_F(RnrWait, ATimeoutDoesNotReloadTheRnrRetries) {
  qp->attributes.rnr_retry = qp->req.rnr_left = 1;
  post(1);
  requests();
  rnr(kLocalPsn, 1);
  ASSERT_TRUE(to_deadline());
  requests();
  ASSERT_TRUE(to_deadline());  // no answer
  requests();
  rnr(kLocalPsn, 1);
  expect_failed(WcStatus::kRnrRetryExcErr, 0);
}

TEST_F(RnrWait, TheRequesterWaitsAsLongAsTheRnrCodeSays) {  // case 20
  struct Row {
    uint8_t code;
    microseconds wait;
  };
  for (const Row row : {Row{0, microseconds(655360)},
                        {1, microseconds(10)},
                        {12, microseconds(640)},
                        {31, microseconds(491520)}}) {
    make(QpType::kRc);
    post(1);
    requests();
    rnr(kLocalPsn, row.code);
    const Time start = env.now;
    EXPECT_EQ(next_deadline(*qp), start + row.wait);
    env.now = start + row.wait - Duration(1);
    handle_deadline(*qp, env);
    EXPECT_TRUE(requests().empty());
    env.now = start + row.wait;
    EXPECT_TRUE(request_ready(*qp, env.now));
    handle_deadline(*qp, env);
    EXPECT_EQ(requests().size(), 1u);
  }
}

// case 19: timeout 4.19 ms, RNR 20.48 ms
TEST_F(RnrWait, TheAckTimerDoesNotCutAnRnrWaitShort) {
  qp->attributes.timeout = 10;
  post(1);
  post(2);
  requests();
  const Time start = env.now;
  rnr(kLocalPsn, 22);
  EXPECT_EQ(next_deadline(*qp), start + microseconds(20480));
  advance(milliseconds(5));
  handle_deadline(*qp, env);
  EXPECT_TRUE(requests().empty());
  ASSERT_TRUE(to_deadline());
  EXPECT_EQ(env.now, start + microseconds(20480));
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(qp->req.retry_left, 3);
  EXPECT_EQ(qp->req.rnr_left, 2);
  EXPECT_EQ(counters.local_ack_timeout_err.value(), 0u);
}

TEST_F(RnrWait, ANakBehindTheRnrNakNeitherEndsTheWaitNorCosts) {  // case 19
  post(1, 3000);
  ASSERT_EQ(requests().size(), 3u);
  rnr(kLocalPsn, 22);
  const Time until = next_deadline(*qp);
  nak(kLocalPsn, Aeth::nak(NakCode::kPsnSequence));
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(next_deadline(*qp), until);
  EXPECT_EQ(qp->req.retry_left, 3);
  EXPECT_EQ(counters.packet_seq_err.value(), 0u);
  ASSERT_TRUE(to_deadline());
  EXPECT_EQ(requests().size(), 1u);
  ack(kLocalPsn);
  EXPECT_EQ(requests().size(), 2u);
}

TEST_F(RnrWait, ADuplicatedRnrNakCountsOnce) {
  post(1);
  requests();
  rnr(kLocalPsn, 22);
  const Time until = next_deadline(*qp);
  advance(microseconds(1));
  rnr(kLocalPsn, 22);
  EXPECT_EQ(next_deadline(*qp), until);
  EXPECT_EQ(qp->req.rnr_left, 2);
  EXPECT_EQ(counters.rnr_nak_received.value(), 1u);
}

TEST_F(RnrWait, AnAckOfTheRefusedPacketEndsTheWait) {
  post(1);
  post(2);
  post(3);
  requests();
  rnr(kLocalPsn + 1, 22);
  EXPECT_EQ(send_completions().size(), 1u);  // the first was taken
  ack(kLocalPsn + 1);
  EXPECT_EQ(send_completions().size(), 1u);
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].frame.psn, kLocalPsn + 2);
  EXPECT_EQ(qp->req.rnr_left, qp->attributes.rnr_retry);
}

TEST_F(RnrWait, ANakThatComesAfterTheWaitForTheSamePacketIsPassedOver) {
  post(1);
  post(2);
  requests();
  rnr(kLocalPsn, 22);
  to_deadline();
  EXPECT_EQ(requests().size(), 1u);
  nak(kLocalPsn, Aeth::nak(NakCode::kPsnSequence));
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(qp->req.retry_left, 3);
}

TEST_F(RnrWait, AWaitThatIsOverEndsWithThePacketThatLeaves) {
  post(1);
  requests();
  rnr(kLocalPsn, 1);
  advance(microseconds(10));
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(next_deadline(*qp), env.now + timeout());
}

TEST_F(RnrWait, AnUnfinishedReadWaitsWithTheRefusedRequestBehindIt) {
  qp->attributes.timeout = 10;
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 2048)}, .wr_id = 1});
  post(2);
  post(3);
  requests();
  rnr(kLocalPsn + 2, 22);
  const Time until = env.now + microseconds(20480);
  EXPECT_TRUE(requests().empty());
  response({.opcode = Opcode::kRcReadResponseFirst,  // late, still good
            .psn = kLocalPsn,
            .payload = pattern(1024)});
  EXPECT_EQ(next_deadline(*qp), until);
  nak(kLocalPsn + 2, Aeth::nak(NakCode::kPsnSequence));
  ack(kLocalPsn + 2);  // implies a NAK of the READ
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(next_deadline(*qp), until);
  EXPECT_EQ(qp->req.retry_left, 3);
  ASSERT_TRUE(to_deadline());
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].frame.psn, kLocalPsn + 1);
  EXPECT_EQ(again[1].frame.psn, kLocalPsn + 2);
}

TEST_F(RnrWait, BehindARefusedRequestNothingIsSentBeforeItIsTaken) {
  qp->attributes.rnr_retry = qp->req.rnr_left = 7;
  for (uint64_t id = 1; id <= 5; ++id) post(id);
  ASSERT_EQ(requests().size(), 5u);
  for (int round = 0; round < 3; ++round) {
    rnr(kLocalPsn + 1, 1);
    ASSERT_TRUE(to_deadline());
    const std::vector<Sent> again = requests();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].frame.psn, kLocalPsn + 1);
    EXPECT_TRUE(again[0].frame.ack_request());
  }
  post(6);
  EXPECT_TRUE(requests().empty());
  ack(kLocalPsn + 1);
  const std::vector<Sent> rest = requests();
  ASSERT_EQ(rest.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(rest[i].frame.psn, kLocalPsn + 2 + i);
}

TEST_F(RnrWait, WhatTheRnrNakConfirmsIsNotSentAgain) {
  post(1);
  post(2);
  requests();
  rnr(kLocalPsn + 1, 1);
  EXPECT_TRUE(requests().empty());
  ASSERT_TRUE(to_deadline());
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].frame.psn, kLocalPsn + 1);
}

// What fails is the request that was refused, once all before it have ended.
TEST_F(RnrWait, TheLastRefusalBehindAnUnfinishedReadDoesNotFailTheRead) {
  qp->attributes.rnr_retry = qp->req.rnr_left = 0;
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 1024)}, .wr_id = 1});
  post_send({.opcode = WrOpcode::kSend, .sges = {sge(4096, 8)}, .wr_id = 2});
  ASSERT_EQ(requests().size(), 2u);
  rnr(kLocalPsn + 1, 1);
  EXPECT_TRUE(send_completions().empty());
  EXPECT_TRUE(requests().empty()) << "the peer has asked for a pause";
  ASSERT_TRUE(to_deadline());
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].opcode(), Opcode::kRcReadRequest);
  response({.opcode = Opcode::kRcReadResponseOnly,
            .psn = kLocalPsn,
            .payload = std::vector<uint8_t>(1024, 0x5a),
            .aeth = {Aeth::kAckNoCredits, 0}});
  rnr(kLocalPsn + 1, 1);
  const std::vector<Cqe> ended = send_completions();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].status, WcStatus::kSuccess);
  EXPECT_EQ(ended[1].status, WcStatus::kRnrRetryExcErr);
}

}  // namespace
}  // namespace uroce::transport
