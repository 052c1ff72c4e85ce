// SPDX-License-Identifier: BSD-3-Clause
// Tests of the ACK timeout and RNR tables, and of what happens when time is up.
#include "transport/retry.h"

#include "transport/qp_fixture.h"

namespace uroce::transport {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

TEST(AckTimeout, DoublesFromFourMicrosecondsWithEveryCode) {
  EXPECT_EQ(ack_timeout(0), Duration::max());
  for (uint8_t code = 1; code < 32; ++code) {
    EXPECT_EQ(ack_timeout(code).count(), (int64_t{1} << code) * 4096) << int{code};
  }
  EXPECT_EQ(ack_timeout(1), Duration(8192));
  EXPECT_EQ(ack_timeout(14), Duration(67'108'864));
  EXPECT_EQ(ack_timeout(31), Duration(8'796'093'022'208));
}

TEST(RnrDelay, IsTheTableOfTheStandard) {
  constexpr int64_t kHundredthsOfMs[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                           16,    24,   32,   48,    64,    96,    128,   192,
                                           256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                           4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
  for (uint8_t code = 0; code < 32; ++code) {
    EXPECT_EQ(rnr_delay(code), microseconds(10) * kHundredthsOfMs[code]) << int{code};
  }
}

// A peer that is silent, or answers only what a test says; time moves from deadline to deadline.
class Retry : public QpFixture {
 protected:
  Retry() {
    qp->attributes.timeout = 12;
    qp->attributes.retry_count = qp->req.retry_left = 3;
  }
  Duration timeout() const { return ack_timeout(qp->attributes.timeout); }
  void post(uint64_t wr_id, uint32_t length = 8) {
    post_send({.sges = {sge(0, length)}, .wr_id = wr_id});
  }
  void nak(Psn psn, uint8_t syndrome) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  void rnr(Psn psn, uint8_t code) { nak(psn, Aeth::rnr_nak(code)); }
  void ack(Psn psn) { nak(psn, Aeth::kAckNoCredits); }
  // Moves on to the next deadline; false if there is none.
  bool to_deadline() {
    const Time deadline = next_deadline(*qp);
    if (deadline == kNever) return false;
    env.now = deadline;
    handle_deadline(*qp, env);
    return true;
  }
  std::vector<GaveUp> gave_up() {
    std::vector<GaveUp> notes;
    Event event{};
    while (env.events.take(event)) {
      if (event.type == EventType::kGaveUp) notes.push_back(event.gave_up);
    }
    return notes;
  }
  void expect_failed(WcStatus status, size_t flushed) {
    const std::vector<Cqe> cqes = send_completions();
    ASSERT_EQ(cqes.size(), 1 + flushed);
    EXPECT_EQ(cqes[0].status, status);
    for (size_t i = 1; i < cqes.size(); ++i) {
      EXPECT_EQ(cqes[i].status, WcStatus::kWrFlushErr);
      EXPECT_EQ(cqes[i].wr_id, cqes[0].wr_id + i);
    }
    EXPECT_EQ(qp->state, QpState::kErr);
    EXPECT_EQ(next_deadline(*qp), kNever);
    EXPECT_TRUE(requests().empty());
  }
};

TEST_F(Retry, NothingIsArmedUntilAPacketHasLeft) {
  post(1);
  EXPECT_EQ(next_deadline(*qp), kNever);
  requests();
  EXPECT_EQ(next_deadline(*qp), env.now + timeout());
}

TEST_F(Retry, WithoutRetriesTheFirstTimeoutIsTheLast) {  // TM-10
  qp->attributes.retry_count = qp->req.retry_left = 0;
  post(1);
  ASSERT_EQ(requests().size(), 1u);
  ASSERT_TRUE(to_deadline());
  expect_failed(WcStatus::kRetryExcErr, 0);
  EXPECT_EQ(counters.retry_exceeded_err.value(), 1u);
}

// TM-11, case 23
TEST_F(Retry, ASilentPeerGetsThreeRetriesThenTheFirstRequestFailsAndTheRestIsFlushed) {
  for (uint64_t id = 1; id <= 5; ++id) post(id);
  Time sent_at = env.now;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::vector<Sent> packets = requests();
    ASSERT_EQ(packets.size(), 5u);
    for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(packets[i].frame.psn, kLocalPsn + i);
    ASSERT_TRUE(to_deadline());
    EXPECT_GE(env.now - sent_at, timeout());
    EXPECT_LE(env.now - sent_at, 4 * timeout());
    sent_at = env.now;
  }
  expect_failed(WcStatus::kRetryExcErr, 4);
  EXPECT_EQ(counters.local_ack_timeout_err.value(), 4u);
  EXPECT_EQ(counters.retransmitted_packets.value(), 15u);
}

// case 23
TEST_F(Retry, AQueuePairThatGivesUpLeavesOneNoteWithBothEndsAndThePsn) {
  post(1);
  post(2);
  requests();
  ack(kLocalPsn);
  while (to_deadline()) requests();
  const std::vector<GaveUp> notes = gave_up();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].when, env.now);
  EXPECT_EQ(notes[0].qpn, kQpn);
  EXPECT_EQ(notes[0].peer, peer_gid);
  EXPECT_EQ(notes[0].peer_qpn, kPeerQpn);
  EXPECT_EQ(notes[0].psn, kLocalPsn + 1);
  EXPECT_FALSE(notes[0].not_ready);
  EXPECT_EQ(notes[0].retry_count, 3);
  EXPECT_EQ(notes[0].timeout, 12);
}

TEST_F(Retry, AReceiverThatWasNeverReadyLeavesOneNoteWithThePsnItRefused) {
  qp->attributes.rnr_retry = qp->req.rnr_left = 1;
  post(1);
  post(2);
  requests();
  for (int i = 0; i < 2; ++i) {
    rnr(kLocalPsn + 1, 1);
    to_deadline();
    requests();
  }
  const std::vector<GaveUp> notes = gave_up();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].psn, kLocalPsn + 1);
  EXPECT_TRUE(notes[0].not_ready);
  EXPECT_EQ(notes[0].rnr_retry, 1);
}

TEST_F(Retry, SevenRetriesAreSevenAndNotForEver) {  // case 22
  qp->attributes.retry_count = qp->req.retry_left = 7;
  post(1);
  size_t sends = 0;
  do {
    sends += requests().size();
  } while (to_deadline());
  EXPECT_EQ(sends, 8u);
  expect_failed(WcStatus::kRetryExcErr, 0);
}

TEST_F(Retry, TimeoutZeroNeverFiresButANakStillResends) {  // case 22
  qp->attributes.timeout = 0;
  post(1);
  post(2);
  ASSERT_EQ(requests().size(), 2u);
  EXPECT_EQ(next_deadline(*qp), kNever);
  advance(seconds(10));
  handle_deadline(*qp, env);
  EXPECT_TRUE(requests().empty());
  nak(kLocalPsn, Aeth::nak(NakCode::kPsnSequence));
  EXPECT_EQ(requests().size(), 2u);
  EXPECT_EQ(next_deadline(*qp), kNever);
}

TEST_F(Retry, TheLongestTimeoutIsHours) {  // case 22
  qp->attributes.timeout = 31;
  post(1);
  requests();
  EXPECT_EQ(next_deadline(*qp) - env.now, Duration(8'796'093'022'208));
}

TEST_F(Retry, ProgressPushesTheTimerAndReloadsTheRetries) {  // case 23
  post(1);
  post(2);
  requests();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(to_deadline());
    ASSERT_EQ(requests().size(), 2u);
  }
  EXPECT_EQ(qp->req.retry_left, 0);
  advance(milliseconds(5));
  ack(kLocalPsn);
  EXPECT_EQ(qp->req.retry_left, 3);
  EXPECT_EQ(next_deadline(*qp), env.now + timeout());
  ack(kLocalPsn + 1);
  EXPECT_EQ(next_deadline(*qp), kNever);
}

TEST_F(Retry, ALaterPacketDoesNotPushTheTimerOfAnEarlierOne) {
  post(1);
  requests();
  const Time deadline = next_deadline(*qp);
  advance(milliseconds(5));
  post(2);
  requests();
  EXPECT_EQ(next_deadline(*qp), deadline);
}

TEST_F(Retry, ACallBeforeItsTimeDoesNothing) {
  post(1);
  requests();
  advance(timeout() - Duration(1));
  handle_deadline(*qp, env);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(counters.local_ack_timeout_err.value(), 0u);
}

TEST_F(Retry, AStalledHostMovesTheAckTimer) {
  shift_ack_deadline(*qp, milliseconds(3));
  EXPECT_EQ(next_deadline(*qp), kNever);
  post(1);
  requests();
  const Time deadline = next_deadline(*qp);
  shift_ack_deadline(*qp, milliseconds(3));
  EXPECT_EQ(next_deadline(*qp), deadline + milliseconds(3));
}

TEST_F(Retry, RnrWithoutRetriesFailsAtOnce) {  // TM-12
  qp->attributes.rnr_retry = qp->req.rnr_left = 0;
  post(1);
  requests();
  rnr(kLocalPsn, 12);
  expect_failed(WcStatus::kRnrRetryExcErr, 0);
  EXPECT_EQ(counters.rnr_nak_retry_err.value(), 1u);
}

TEST_F(Retry, RnrRetryTwoMeansThreeSends) {  // as captured in nak-rnr-out
  qp->attributes.rnr_retry = qp->req.rnr_left = 2;
  post(1);
  for (int sends = 0; sends < 3; ++sends) {
    ASSERT_EQ(requests().size(), 1u);
    rnr(kLocalPsn, 1);
    to_deadline();
  }
  expect_failed(WcStatus::kRnrRetryExcErr, 0);
}

TEST_F(Retry, RnrRetrySevenIsEndless) {  // TM-13
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

TEST_F(Retry, TimeoutsBetweenRnrNaksDoNotAddUp) {
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

TEST_F(Retry, APeerThatFallsSilentAfterItsRnrNaksGetsItsRetriesAndNoMore) {
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

TEST_F(Retry, ATimeoutDoesNotReloadTheRnrRetries) {
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

TEST_F(Retry, TheRequesterWaitsAsLongAsTheRnrCodeSays) {  // case 20
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
TEST_F(Retry, TheAckTimerDoesNotCutAnRnrWaitShort) {
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

TEST_F(Retry, ANakBehindTheRnrNakNeitherEndsTheWaitNorCosts) {  // case 19
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

TEST_F(Retry, ADuplicatedRnrNakCountsOnce) {
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

TEST_F(Retry, AnAckOfTheRefusedPacketEndsTheWait) {
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

TEST_F(Retry, ANakThatComesAfterTheWaitForTheSamePacketIsPassedOver) {
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

TEST_F(Retry, AWaitThatIsOverEndsWithThePacketThatLeaves) {
  post(1);
  requests();
  rnr(kLocalPsn, 1);
  advance(microseconds(10));
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(next_deadline(*qp), env.now + timeout());
}

TEST_F(Retry, AnUnfinishedReadWaitsWithTheRefusedRequestBehindIt) {
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

TEST_F(Retry, BehindARefusedRequestNothingIsSentBeforeItIsTaken) {
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

TEST_F(Retry, AResendStartsTheTimerAnew) {
  post(1);
  post(2);
  requests();
  advance(milliseconds(5));
  nak(kLocalPsn, Aeth::nak(NakCode::kPsnSequence));
  EXPECT_EQ(next_deadline(*qp), kNever);  // until something has left
  requests();
  EXPECT_EQ(next_deadline(*qp), env.now + timeout());
}

TEST_F(Retry, WhatTheRnrNakConfirmsIsNotSentAgain) {
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

// A caller that polls steadily, but always later than a quarter of the timeout, gets its time-outs.
TEST(ClockGaps, DoNotPutTheAckTimerOffForEver) {
  QpContext qp;
  qp.attributes.timeout = 12;
  const Duration timeout = ack_timeout(12);
  Time now{};
  arm_ack_timer(qp, now);
  while (next_deadline(qp) > now) {
    const Duration gap = timeout / 3;
    now += gap;
    shift_ack_deadline(qp, gap);
    ASSERT_LE(now - Time{}, 4 * timeout);
  }
  EXPECT_GE(now - Time{}, timeout);
}

}  // namespace
}  // namespace uroce::transport
