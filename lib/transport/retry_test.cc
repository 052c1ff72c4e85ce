// SPDX-License-Identifier: BSD-3-Clause
// Tests of the ACK timeout: its table, and what happens when time is up.
#include "transport/retry.h"

#include "transport/retry_fixture.h"

namespace uroce::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Aeth;
using wire::NakCode;

class Retry : public RetryFixture {};

TEST(AckTimeout, DoublesFromFourMicrosecondsWithEveryCode) {
  EXPECT_EQ(ack_timeout(0), Duration::max());
  for (uint8_t code = 1; code < 32; ++code) {
    EXPECT_EQ(ack_timeout(code).count(), (int64_t{1} << code) * 4096) << int{code};
  }
  EXPECT_EQ(ack_timeout(1), Duration(8192));
  EXPECT_EQ(ack_timeout(14), Duration(67'108'864));
  EXPECT_EQ(ack_timeout(31), Duration(8'796'093'022'208));
}

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
