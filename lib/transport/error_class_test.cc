// SPDX-License-Identifier: BSD-3-Clause
// Tests of the ways to the error states: who fails, who is flushed, in which order, on which queue.
#include "transport/error_class.h"

#include "transport/completer.h"
#include "transport/qp_fixture.h"
#include "transport/requester.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

class ErrorClass : public QpFixture {
 protected:
  void post(uint64_t wr_id, uint8_t flags = 0) {
    post_send({.sges = {sge(0, 8)}, .flags = flags, .wr_id = wr_id});
  }
  void nak(Psn psn, uint8_t syndrome) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  static void expect(const std::vector<Cqe>& cqes, const std::vector<WcStatus>& statuses,
                     uint64_t first_id) {
    ASSERT_EQ(cqes.size(), statuses.size());
    for (size_t i = 0; i < cqes.size(); ++i) {
      EXPECT_EQ(cqes[i].status, statuses[i]) << i;
      EXPECT_EQ(cqes[i].wr_id, first_id + i) << i;
      EXPECT_EQ(cqes[i].solicited, statuses[i] == WcStatus::kSuccess ? 0 : 1) << i;
      EXPECT_EQ(cqes[i].qpn, kQpn.value());
      EXPECT_NE(cqes[i].qp, nullptr);
    }
  }
  static constexpr WcStatus kFlushed = WcStatus::kWrFlushErr;
};

TEST_F(ErrorClass, ARequestThatMayNotBeginYetDoesNotFailYet) {
  post(1, kSendSignaled);
  post_send({.sges = {{address(0), 8, 0xBAD00}}, .wr_id = 2});
  EXPECT_EQ(requests().size(), 1u);
  put_state(QpState::kSqd);
  nak(kLocalPsn, Aeth::kAckNoCredits);
  expect(send_completions(), {WcStatus::kSuccess}, 1);
  EXPECT_EQ(qp->state, QpState::kSqd);
  put_state(QpState::kRts);
  EXPECT_TRUE(requests().empty());
  expect(send_completions(), {WcStatus::kLocProtErr}, 2);
  EXPECT_EQ(qp->state, QpState::kErr);
}

TEST_F(ErrorClass, TheFailedRequestComesFirstAndEverythingElseIsFlushedInOrder) {
  post_recv(0, 64, 100);
  post_recv(64, 64, 101);
  for (uint64_t id = 1; id <= 3; ++id) post(id);  // unsignalled: their errors show all the same
  requests();
  nak(kLocalPsn, Aeth::nak(NakCode::kRemoteAccess));
  expect(send_completions(), {WcStatus::kRemAccessErr, kFlushed, kFlushed}, 1);
  const std::vector<Cqe> received = recv_completions();
  expect(received, {kFlushed, kFlushed}, 100);
  EXPECT_EQ(received[0].opcode, WcOpcode::kRecv);
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_EQ(qp->queues->state_word.load(), QpState::kErr);
  EXPECT_EQ(counters.req_cqe_error.value(), 1u);
  EXPECT_EQ(counters.req_cqe_flush_error.value(), 2u);
  EXPECT_EQ(counters.resp_cqe_flush_error.value(), 2u);
  EXPECT_EQ(next_deadline(*qp), kNever);
}

// case 43
TEST_F(ErrorClass, WorkPostedInTheErrorStateIsFlushedEveryTime) {
  enter_error(*qp, env);
  for (uint64_t id = 1; id <= 1000; ++id) {
    post(id);
    post_recv(0, 8, id);
    flush(*qp, env);
    expect(send_completions(), {kFlushed}, id);
    expect(recv_completions(), {kFlushed}, id);
    EXPECT_TRUE(requests().empty());
  }
}

// case 46: the ring has wrapped five times before
TEST_F(ErrorClass, ADrainMarkerIsFlushedLastOnBothQueues) {
  for (uint32_t i = 0; i < 5 * 64; ++i) {
    post(i);
    requests();
    nak(kLocalPsn + i, Aeth::kAckNoCredits);
    post_recv(0, 8, i);
    qp->queues->recv.consumer.fetch_add(1);  // as the responder does
  }
  EXPECT_TRUE(send_completions().empty());
  for (uint64_t id = 1; id <= 5; ++id) {
    post(id);
    post_recv(0, 8, id);
  }
  enter_error(*qp, env);
  post(6);
  post_recv(0, 8, 6);
  flush(*qp, env);
  expect(send_completions(), std::vector<WcStatus>(6, kFlushed), 1);
  expect(recv_completions(), std::vector<WcStatus>(6, kFlushed), 1);
}

TEST_F(ErrorClass, AHeldReceiveEndsWithTheResponsersStatusAndTheNakSurvives) {
  post_recv(0, 8, 100);
  post_recv(0, 8, 101);
  post(1);
  qp->resp.recv_wqe_held = true;
  qp->resp.message = MessageInProgress::kSend;
  qp->resp.responses_tail = 1;  // the NAK
  fail_receive(*qp, env, WcStatus::kRemInvReqErr);
  expect(recv_completions(), {WcStatus::kRemInvReqErr, kFlushed}, 100);
  expect(send_completions(), {kFlushed}, 1);
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_EQ(qp->resp.responses_tail - qp->resp.responses_head, 1u);
  EXPECT_FALSE(qp->resp.recv_wqe_held);
  EXPECT_EQ(counters.resp_cqe_error.value(), 1u);
}

TEST_F(ErrorClass, WithoutAHeldReceiveAllReceivesAreFlushed) {
  post_recv(0, 8, 100);
  fail_receive(*qp, env, WcStatus::kRemInvReqErr);
  expect(recv_completions(), {kFlushed}, 100);
}

TEST_F(ErrorClass, ModifyToErrorDropsWhatIsStillOwed) {
  qp->resp.responses_tail = 3;
  move_to_error(*qp, env);
  EXPECT_EQ(qp->resp.responses_tail, qp->resp.responses_head);
  EXPECT_TRUE(events().empty());  // no asynchronous event
}

TEST_F(ErrorClass, AFailedDatagramLeavesReceivingAlone) {
  make(QpType::kUd);
  post_recv(0, 64, 100);
  post(1);
  post(2);
  fail_send(*qp, env, WcStatus::kLocProtErr);
  expect(send_completions(), {WcStatus::kLocProtErr, kFlushed}, 1);
  EXPECT_TRUE(recv_completions().empty());
  EXPECT_EQ(qp->state, QpState::kSqe);
  post(3);
  flush(*qp, env);
  expect(send_completions(), {kFlushed}, 3);
  EXPECT_TRUE(recv_completions().empty());
  set_state(*qp, QpState::kRts);
  post(4, kSendSignaled);
  EXPECT_EQ(datagrams().size(), 1u);
  expect(send_completions(), {WcStatus::kSuccess}, 4);
}

TEST_F(ErrorClass, AFullCompletionQueueIsAnEventAndTheSlotsComeBackAllTheSame) {
  make(QpType::kRc, false, PathMtu::k1024, {64, 64, 4, 4, 64}, 1);
  const uint32_t depth = qp->send_cq->lanes[0].depth;
  for (uint64_t id = 1; id <= depth + 2; ++id) post(id, kSendSignaled);
  requests();
  nak(kLocalPsn + depth + 1, Aeth::kAckNoCredits);
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_EQ(events(), (std::vector<EventType>{EventType::kCqErr, EventType::kQpFatal}));
  expect(send_completions(), std::vector<WcStatus>(depth, WcStatus::kSuccess), 1);
  EXPECT_EQ(qp->queues->send.consumer.load(), qp->queues->send.producer.load());
}

TEST_F(ErrorClass, ResetEmptiesTheQueuesWithoutCompletions) {
  post_recv(0, 8, 100);
  post(1);
  post(2);
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 3000)}, .wr_id = 3});
  ASSERT_EQ(requests().size(), 3u);
  qp->resp.recv_wqe_held = true;
  qp->queues->replay[0].packet_count = 1;
  reset_queues(*qp);
  set_state(*qp, QpState::kReset);
  EXPECT_TRUE(send_completions().empty());
  EXPECT_TRUE(recv_completions().empty());
  EXPECT_EQ(qp->queues->send.consumer.load(), 3u);
  EXPECT_EQ(qp->queues->recv.consumer.load(), 1u);
  EXPECT_EQ(qp->req.reads_outstanding, 0u);
  EXPECT_EQ(qp->queues->replay[0].packet_count, 0u);
  EXPECT_FALSE(qp->resp.recv_wqe_held);
  EXPECT_EQ(next_deadline(*qp), kNever);

  // The next life begins where the rings stand.
  qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(0x900);
  set_state(*qp, QpState::kRts);
  post(4, kSendSignaled);
  const std::vector<Sent> sent = requests();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].frame.psn, Psn(0x900));
  nak(Psn(0x900), Aeth::kAckNoCredits);
  expect(send_completions(), {WcStatus::kSuccess}, 4);
}

TEST_F(ErrorClass, TheSendPsnAfterAFailureIsTheNewestEvenInTheMiddleOfARetry) {
  post(1);
  post(2);
  requests();
  go_back(*qp);
  enter_error(*qp, env);
  EXPECT_EQ(qp->req.max_psn, kLocalPsn + 2);
  EXPECT_EQ(qp->req.outstanding(), 0u);
}

TEST_F(ErrorClass, LateResponsesToADeadQueuePairAreDropped) {
  post(1);
  requests();
  enter_error(*qp, env);
  send_completions();
  nak(kLocalPsn, Aeth::kAckNoCredits);
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(dropped(wire::Drop::kStaleAcknowledge), 1u);
}

}  // namespace
}  // namespace uroce::transport
