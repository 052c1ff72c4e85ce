// SPDX-License-Identifier: BSD-3-Clause
// Local operations: their place among their neighbours, failures, and other engines.
#include "transport/local_operation.h"

#include "transport/error_class.h"
#include "transport/key_work_fixture.h"
#include "transport/retry.h"
#include "transport/uc.h"

namespace uroce::transport {
namespace {

constexpr Key kNext{0x0411};

class LocalOperations : public KeyWorkFixture {};

TEST_F(LocalOperations, AreExecutedAndCompletedAtOnceWhenNothingIsOlder) {
  post_reg(kNext, 1);
  EXPECT_TRUE(requests().empty()) << "nothing goes out";
  EXPECT_TRUE(valid(kNext));
  const std::vector<Cqe> done = send_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].opcode, WcOpcode::kRegMr);
  EXPECT_EQ(done[0].status, WcStatus::kSuccess);
  EXPECT_EQ(qp->req.next_psn, kLocalPsn) << "no PSN is taken";
  post_invalidate(kNext, 2);
  EXPECT_TRUE(requests().empty());
  EXPECT_FALSE(valid(kNext));
  EXPECT_EQ(send_completions()[0].opcode, WcOpcode::kLocalInv);
  post_bind(kWindow1, kWindow1, 3);
  EXPECT_TRUE(requests().empty());
  EXPECT_TRUE(valid(kWindow1));
  EXPECT_EQ(send_completions()[0].opcode, WcOpcode::kBindMw);
}

TEST_F(LocalOperations, ExecuteInPlaceAndCompleteBehindOlderRequests) {
  post_message(8, 1);
  post_reg(kNext, 2);
  post_bind(kWindow1, kWindow1, 3);
  post_message(8, 4);
  EXPECT_EQ(requests().size(), 2u) << "later messages are not held up";
  EXPECT_TRUE(valid(kNext));
  EXPECT_TRUE(valid(kWindow1));
  EXPECT_EQ(completed(), Ids{});
  acknowledge(kLocalPsn);
  EXPECT_EQ(completed(), (Ids{1, 2, 3}));
  acknowledge(kLocalPsn + 1);
  EXPECT_EQ(completed(), (Ids{4}));
}

TEST_F(LocalOperations, OneAcknowledgementCompletesAcrossThem) {
  post_reg(kNext, 1);
  post_message(8, 2);
  post_bind(kWindow1, kWindow1, 3);
  post_message(8, 4);
  post_bind(kWindow2, kWindow2, 5);
  requests();
  acknowledge(kLocalPsn + 1);
  EXPECT_EQ(completed(), (Ids{1, 2, 3, 4, 5}));
}

TEST_F(LocalOperations, CompleteBehindTheDataOfARead) {
  post_read(8, 1);
  post_bind(kWindow1, kWindow1, 2);
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(completed(), Ids{});
  PeerPacket data;
  data.opcode = wire::Opcode::kRcReadResponseOnly;
  data.psn = kLocalPsn;
  data.payload = pattern(8);
  data.aeth = {wire::Aeth::kAckNoCredits, 1};
  response(data);
  EXPECT_EQ(completed(), (Ids{1, 2}));
}

TEST_F(LocalOperations, AFencedOneWaitsForReads) {
  post_read(8, 1);
  post_bind(kWindow1, kWindow1, 2, kSendSignaled | kSendFence);
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_FALSE(valid(kWindow1));
}

TEST_F(LocalOperations, InvalidationWaitsUntilEveryOlderRequestIsComplete) {
  post_reg(kNext, 1);
  post_message(8, 2);
  post_message(8, 3);
  post_invalidate(kNext, 4);
  post_message(8, 5);
  EXPECT_EQ(requests().size(), 2u) << "what is behind it waits as well";
  acknowledge(kLocalPsn);
  EXPECT_TRUE(requests().empty());
  EXPECT_TRUE(valid(kNext));
  acknowledge(kLocalPsn + 1);
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_FALSE(valid(kNext));
  EXPECT_EQ(completed(), (Ids{1, 2, 3, 4}));
}

TEST_F(LocalOperations, ARetryPassesThemWithoutExecutingThemAgain) {
  post_message(8, 1);
  post_reg(kNext, 2);  // twice it would be an error: the region is valid then
  post_bind(kWindow2, kWindow2, 3);
  post_message(8, 4);
  EXPECT_EQ(requests().size(), 2u);
  advance(ack_timeout(qp->attributes.timeout));
  handle_deadline(*qp, env);
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].psn(), kLocalPsn.value() + 1);
  EXPECT_EQ(completed(), Ids{});
  acknowledge(kLocalPsn + 1);
  EXPECT_EQ(completed(), (Ids{1, 2, 3, 4}));
}

TEST_F(LocalOperations, ARetryThatBeginsBehindThemLeavesThemAlone) {
  post_message(8, 1);
  post_reg(kNext, 2);
  post_message(8, 3);
  requests();
  PeerPacket nak;
  nak.opcode = wire::Opcode::kRcAcknowledge;
  nak.psn = kLocalPsn + 1;
  nak.aeth = {wire::Aeth::nak(wire::NakCode::kPsnSequence), 1};
  response(nak);
  EXPECT_EQ(completed(), (Ids{1, 2}));
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn(), kLocalPsn.value() + 1);
}

TEST_F(LocalOperations, AFailureEndsTheQueuePairBehindOlderRequests) {
  post_message(8, 1);
  post_invalidate(kBindable, 2);  // registered by the control path: not for LOCAL_INV
  post_message(8, 3);
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(completed(), Ids{});
  acknowledge(kLocalPsn);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(completed(), (Ids{1, failed(WcStatus::kLocQpOpErr), failed(WcStatus::kWrFlushErr)}));
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_TRUE(valid(kBindable));
}

TEST_F(LocalOperations, EachFailsWithItsOwnStatus) {
  post_reg(Key(0x0711), 1);
  requests();
  EXPECT_EQ(completed(), (Ids{failed(WcStatus::kLocQpOpErr)}));
  make(QpType::kRc);
  post_bind(kWindow1, Key(0x0711), 1);
  requests();
  EXPECT_EQ(completed(), (Ids{failed(WcStatus::kMwBindErr)}));
  EXPECT_EQ(qp->state, QpState::kErr);
}

TEST_F(LocalOperations, AFailureBehindUnacknowledgedRequestsEndsTheQueuePairWithThem) {
  post_message(8, 1);
  post_bind(kWindow1, Key(0x0711), 2);
  requests();
  EXPECT_EQ(qp->state, QpState::kRts);
  acknowledge(kLocalPsn);
  EXPECT_EQ(completed(), (Ids{1, failed(WcStatus::kMwBindErr)}));
}

TEST_F(LocalOperations, AreNotBegunInSqd) {
  post_reg(kNext, 1);
  put_state(QpState::kSqd);
  EXPECT_FALSE(request_ready(*qp, env.now));
  EXPECT_TRUE(requests().empty());
  EXPECT_FALSE(valid(kNext));
}

TEST_F(LocalOperations, AreFlushedLikeAnyRequest) {
  post_message(8, 1);
  post_reg(kNext, 2);
  requests();
  fail_send(*qp, env, WcStatus::kRetryExcErr);
  EXPECT_EQ(completed(), (Ids{failed(WcStatus::kRetryExcErr), failed(WcStatus::kWrFlushErr)}));
}

TEST_F(LocalOperations, UnsignalledOnesLeaveNoCompletion) {
  post_reg(kNext, 1, 0, 0);
  post_message(8, 2);
  requests();
  acknowledge(kLocalPsn);
  EXPECT_EQ(completed(), (Ids{2}));
}

// Another engine may be copying to or from what the key stood for: the completion waits for the end
// of its turn, nothing else does.
TEST_F(LocalOperations, AnInvalidationIsSeenCompleteWhenNoOtherEngineUsesTheMemory) {
  add_engine();
  post_reg(kNext, 1);
  requests();
  EXPECT_EQ(completed(), (Ids{1}));
  other.begin_turn(false);
  post_invalidate(kNext, 2, 0);
  post_message(8, 3);
  EXPECT_EQ(requests().size(), 1u);
  acknowledge(kLocalPsn);
  EXPECT_FALSE(valid(kNext)) << "the key is dead at once";
  EXPECT_EQ(completed(), Ids{}) << "also what follows an unsignalled one";
  other.end_turn();
  EXPECT_EQ(completed(), (Ids{3}));
}

TEST_F(LocalOperations, ABindThatTakesBackAKeyWaitsAtTheCursorForOtherEngines) {
  add_engine();
  const Key next(kWindow1.value() + 1);
  post_bind(kWindow1, kWindow1, 1);
  requests();
  other.begin_turn(false);
  post_bind(kWindow1, next, 2);
  post_message(8, 3);
  EXPECT_TRUE(requests().empty());
  EXPECT_FALSE(valid(kWindow1));
  EXPECT_FALSE(valid(next));
  EXPECT_FALSE(request_ready(*qp, env.now));
  env.now = next_deadline(*qp);
  handle_deadline(*qp, env);
  EXPECT_TRUE(requests().empty()) << "and again";
  other.end_turn();
  env.now = next_deadline(*qp);
  handle_deadline(*qp, env);
  EXPECT_TRUE(request_ready(*qp, env.now));
  EXPECT_TRUE(QpFixture::requests(1).empty());
  EXPECT_TRUE(valid(next));
  EXPECT_EQ(requests().size(), 1u);
  EXPECT_EQ(completed(), (Ids{1, 2}));
}

TEST_F(LocalOperations, AnUnreliableConnectionBindsWindowsToo) {
  make(QpType::kUc);
  post_bind(kWindow1, kWindow1, 1);
  TxSlot slot;
  EXPECT_FALSE(emit_unreliable(*qp, env, slot));
  EXPECT_TRUE(valid(kWindow1));
  EXPECT_EQ(completed(), (Ids{1}));
}

TEST_F(LocalOperations, ALongChainOfThemCompletesAtOnce) {
  post_message(8, 1);
  for (uint64_t i = 0; i < 60; ++i) {
    const auto tag = static_cast<uint32_t>(i);
    post_bind(Key(kWindow1.value() + tag), Key(kWindow1.value() + tag + 1), 2 + i);
  }
  requests();
  EXPECT_EQ(qp->req.next_index, qp->queues->send.producer.load());
  acknowledge(kLocalPsn);
  EXPECT_EQ(completed().size(), 61u);
}

// The poster knows the window by the key of the last bind that it posted.
TEST_F(LocalOperations, AWindowWhoseBindsFailedOrWereFlushedIsBoundAgain) {
  const Key first(kWindow1.value() + 1);
  const Key second(kWindow1.value() + 2);
  const Key third(kWindow1.value() + 3);
  post_local(WrOpcode::kBindMw, kWindow1, {address(64), 64, nullptr, first.value(), 0x9901, 0}, 1);
  post_bind(first, second, 2);
  requests();
  EXPECT_EQ(completed(), (Ids{failed(WcStatus::kMwBindErr), failed(WcStatus::kWrFlushErr)}));
  make(QpType::kRc);
  post_bind(second, third, 3);
  requests();
  EXPECT_EQ(completed(), (Ids{3}));
  EXPECT_TRUE(valid(third));
  EXPECT_FALSE(valid(second));
}

}  // namespace
}  // namespace uroce::transport
