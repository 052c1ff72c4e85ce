// SPDX-License-Identifier: BSD-3-Clause
// SEND with invalidate, as requester and as responder.
#include "transport/remote_invalidate.h"

#include "transport/key_work_fixture.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

class SendWithInvalidate : public KeyWorkFixture {
 protected:
  SendWithInvalidate() {
    post_reg(kFast, 0, 0, 0);
    requests();
  }
  PeerPacket packet(Opcode opcode, uint32_t behind, size_t bytes, Key key = kFast) {
    PeerPacket p;
    p.opcode = opcode;
    p.psn = kPeerPsn + behind;
    p.payload = pattern(bytes);
    p.ieth = {key};
    return p;
  }
};

TEST_F(SendWithInvalidate, TheKeyRidesOnTheLastPacket) {
  SendRequest request;
  request.opcode = WrOpcode::kSendWithInvalidate;
  request.sges = {sge(0, 2000)};
  request.immediate_be = 0xABCDEF12;  // the R_Key, host order
  post_send(request);
  request.sges = {sge(0, 10)};
  post_send(request);
  const std::vector<Sent> sent = requests();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].opcode(), Opcode::kRcSendFirst);
  EXPECT_EQ(sent[1].opcode(), Opcode::kRcSendLastInvalidate);
  EXPECT_EQ(sent[1].frame.ieth().rkey.value(), 0xABCDEF12u);
  EXPECT_EQ(sent[1].payload(), bytes_at(1024, 976));
  EXPECT_EQ(sent[2].opcode(), Opcode::kRcSendOnlyInvalidate);
  acknowledge(kLocalPsn + 2);
  const std::vector<Cqe> done = send_completions();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].opcode, WcOpcode::kSend);
}

TEST_F(SendWithInvalidate, DeliversTheMessageAndEndsTheKey) {
  post_recv(8192, 64, 5);
  request(packet(Opcode::kRcSendOnlyInvalidate, 0, 10));
  EXPECT_FALSE(valid(kFast));
  const std::vector<Cqe> done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 5u);
  EXPECT_EQ(done[0].status, WcStatus::kSuccess);
  EXPECT_EQ(done[0].byte_len, 10u);
  EXPECT_EQ(done[0].wc_flags, kWcGrh | kWcWithInvalidate);
  EXPECT_EQ(done[0].immediate_be, kFast.value());
  const std::vector<Sent> answer = responses();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].aeth().kind(), wire::AethKind::kAck);
}

TEST_F(SendWithInvalidate, EndsTheKeyWithItsLastPacketOnly) {
  post_recv(8192, 4096);
  request(packet(Opcode::kRcSendFirst, 0, 1024));
  EXPECT_TRUE(valid(kFast));
  request(packet(Opcode::kRcSendLastInvalidate, 1, 10));
  EXPECT_FALSE(valid(kFast));
  ASSERT_EQ(recv_completions().size(), 1u);
}

TEST_F(SendWithInvalidate, ADuplicateIsAcknowledgedAndInvalidatesNothing) {
  post_recv(8192, 64);
  request(packet(Opcode::kRcSendOnlyInvalidate, 0, 10));
  responses();
  post_reg(kFast, 1);
  requests();
  request(packet(Opcode::kRcSendOnlyInvalidate, 0, 10));
  EXPECT_TRUE(valid(kFast));
  EXPECT_EQ(responses().size(), 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(SendWithInvalidate, WithoutAReceiveTheKeyStays) {
  request(packet(Opcode::kRcSendOnlyInvalidate, 0, 10));
  EXPECT_TRUE(valid(kFast));
  EXPECT_EQ(responses()[0].aeth().kind(), wire::AethKind::kRnrNak);
}

// Class J: no NAK.
TEST_F(SendWithInvalidate, AKeyThatCannotBeInvalidatedIsOurErrorAndNotThePeers) {
  post_recv(8192, 64, 5);
  post_recv(8192, 64, 6);
  request(packet(Opcode::kRcSendOnlyInvalidate, 0, 10, kBindable));
  EXPECT_TRUE(valid(kBindable));
  const std::vector<Cqe> done = recv_completions();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].wr_id, 5u);
  EXPECT_EQ(done[0].status, WcStatus::kRemInvReqErr);
  EXPECT_EQ(done[1].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(qp->state, QpState::kErr);
  const std::vector<Sent> answer = responses();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].aeth().kind(), wire::AethKind::kAck);
}

TEST_F(SendWithInvalidate, AFailureThatWasNotAskedAboutSaysNothing) {
  post_recv(8192, 64);
  PeerPacket p = packet(Opcode::kRcSendOnlyInvalidate, 0, 10, Key(0x0F00));
  p.ack_request = false;
  request(p);
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_TRUE(responses().empty());
}

TEST_F(SendWithInvalidate, TheCompletionWaitsForOtherEnginesTheConnectionDoesNot) {
  add_engine();
  post_recv(8192, 64, 5);
  post_recv(8192, 64, 6);
  other.begin_turn(false);
  request(packet(Opcode::kRcSendOnlyInvalidate, 0, 10));
  EXPECT_FALSE(valid(kFast));
  request(packet(Opcode::kRcSendOnly, 1, 10));
  EXPECT_EQ(responses().size(), 1u) << "one acknowledgement for both";
  EXPECT_TRUE(recv_completions().empty());
  other.end_turn();
  const std::vector<Cqe> done = recv_completions();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].wr_id, 5u);
  EXPECT_EQ(done[1].wr_id, 6u);
}

// case 53: also while a message is on its way.
TEST_F(SendWithInvalidate, AWriteThatHasBegunEndsAtTheInvalidation) {
  PeerPacket first = packet(Opcode::kRcWriteFirst, 0, 1024);
  first.reth = {address(0), kFast, 2048};
  request(first);
  EXPECT_EQ(qp->state, QpState::kRts);
  post_invalidate(kFast, 1);
  requests();
  EXPECT_EQ(completed(), (Ids{1}));
  request(packet(Opcode::kRcWriteLast, 1, 1024));
  const std::vector<Sent> answer = responses();
  ASSERT_FALSE(answer.empty());
  EXPECT_EQ(answer.back().aeth().syndrome, wire::Aeth::nak(wire::NakCode::kRemoteAccess));
  EXPECT_EQ(bytes_at(1024, 4), (std::vector<uint8_t>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace uroce::transport
