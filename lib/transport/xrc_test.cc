// SPDX-License-Identifier: BSD-3-Clause
// Both ends of XRC, each against a peer made by hand: the packets of the initiator, and the queue
// that a target enters.
#include "transport/xrc.h"

#include "transport/error_class.h"
#include "transport/retry.h"
#include "transport/xrc_fixture.h"
// The fixture of queue pairs, which is common to all.
#include "transport/qp_fixture.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

constexpr uint32_t kFirstNumber = 0x00012A;
constexpr uint32_t kSecondNumber = 0x0003C7;

TEST(XrcQueueTable, ANumberNamesOneQueueUntilThatIsRemoved) {
  XrcQueueTable table;
  SharedReceiveQueue srq;
  srq.number = kFirstNumber;
  EXPECT_EQ(table.find(kFirstNumber), nullptr);
  table.add(srq);
  EXPECT_EQ(table.find(kFirstNumber), &srq);
  EXPECT_EQ(table.find(kFirstNumber ^ 1), nullptr) << "another tag";
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(0xFFFFFF), nullptr) << "beyond the table";
  table.remove(srq);
  EXPECT_EQ(table.find(kFirstNumber), nullptr);
}

// --- the initiator -----------------------------------------------------------------------------

class XrcInitiator : public QpFixture {
 protected:
  XrcInitiator() { make(QpType::kXrcIni, false, PathMtu::k256, {8, 0, 4, 0, 64}); }
  void post(WrOpcode opcode, uint32_t length) {
    post_send({.opcode = opcode,
               .sges = {sge(0, length)},
               .remote_address = 0x1122334455667788,
               .rkey = 0xA1B2C3D4,
               .compare_add = 1,
               .immediate_be = 0x04030201,
               .remote_qpn = 0xFEDCBA});
  }
  // The packet from the BTH on, without the ICRC.
  static std::vector<uint8_t> ib_bytes(const Sent& sent) {
    return {sent.frame.bth, sent.bytes.data() + sent.bytes.size() - wire::kIcrcBytes};
  }
};

TEST_F(XrcInitiator, ASendHasTheXrcethBehindItsBth) {
  fill(0, 5);
  post(WrOpcode::kSend, 5);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(ib_bytes(packets[0]),
            (std::vector<uint8_t>{0xA4, 0x70, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x22,  // BTH
                                  0x80, 0x00, 0x01, 0x00,                          //
                                  0x00, 0xFE, 0xDC, 0xBA,                          // XRCETH
                                  1,    2,    3,    4,    5,    0,    0,    0}));
}

TEST_F(XrcInitiator, AWriteWithImmediateHasAllItsHeadersInOrder) {
  fill(0, 4);
  post(WrOpcode::kRdmaWriteWithImm, 4);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(ib_bytes(packets[0]),
            (std::vector<uint8_t>{0xAB, 0x40, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x22,  // BTH
                                  0x80, 0x00, 0x01, 0x00,                          //
                                  0x00, 0xFE, 0xDC, 0xBA,                          // XRCETH
                                  0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,  // RETH
                                  0xA1, 0xB2, 0xC3, 0xD4, 0x00, 0x00, 0x00, 0x04,  //
                                  0x01, 0x02, 0x03, 0x04,                          // ImmDt
                                  1,    2,    3,    4}));
}

TEST_F(XrcInitiator, EveryPacketOfEveryRequestNamesTheQueue) {
  qp->attributes.access = kAllAccess;
  post(WrOpcode::kSendWithImm, 600);
  post(WrOpcode::kRdmaWrite, 300);
  post(WrOpcode::kRdmaRead, 300);
  post(WrOpcode::kAtomicFetchAdd, 8);
  std::vector<Opcode> opcodes;
  for (const Sent& packet : requests()) {
    opcodes.push_back(packet.opcode());
    EXPECT_EQ(packet.frame.xrceth().srq_number, 0xFEDCBAu);
  }
  EXPECT_EQ(opcodes,
            (std::vector{Opcode::kXrcSendFirst, Opcode::kXrcSendMiddle,
                         Opcode::kXrcSendLastImmediate, Opcode::kXrcWriteFirst,
                         Opcode::kXrcWriteLast, Opcode::kXrcReadRequest, Opcode::kXrcFetchAdd}));
}

TEST_F(XrcInitiator, AnswersCompleteItsRequests) {
  post(WrOpcode::kSend, 100);
  post(WrOpcode::kRdmaRead, 300);
  post(WrOpcode::kAtomicFetchAdd, 8);
  EXPECT_EQ(requests().size(), 3u);
  response({.opcode = Opcode::kXrcAcknowledge, .psn = kLocalPsn, .aeth = {Aeth::kAckNoCredits, 1}});
  response({.opcode = Opcode::kXrcReadResponseFirst,
            .psn = kLocalPsn + 1,
            .payload = pattern(256, 9),
            .aeth = {Aeth::kAckNoCredits, 2}});
  response({.opcode = Opcode::kXrcReadResponseLast,
            .psn = kLocalPsn + 2,
            .payload = pattern(44, 5),
            .aeth = {Aeth::kAckNoCredits, 2}});
  response({.opcode = Opcode::kXrcAtomicAcknowledge,
            .psn = kLocalPsn + 3,
            .aeth = {Aeth::kAckNoCredits, 3},
            .atomic_ack = {77}});
  const std::vector<Cqe> done = send_completions();
  ASSERT_EQ(done.size(), 3u);
  for (const Cqe& cqe : done) EXPECT_EQ(cqe.status, WcStatus::kSuccess);
  EXPECT_EQ(bytes_at(256, 44), pattern(44, 5)) << "of the READ";
  EXPECT_EQ(qp->req.outstanding(), 0u);
}

TEST_F(XrcInitiator, SilenceAndRefusalEndItAsTheyEndRc) {
  qp->req.retry_left = 1;
  post(WrOpcode::kSend, 100);
  EXPECT_EQ(requests().size(), 1u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(qp->state, QpState::kRts);
    env.now = next_deadline(*qp);
    handle_deadline(*qp, env);
    requests();
  }
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_EQ(send_completions().at(0).status, WcStatus::kRetryExcErr);
  // It never receives anything: nobody waits for a last WQE.
  for (const EventType event : events()) EXPECT_NE(event, EventType::kQpLastWqeReached);

  make(QpType::kXrcIni, false, PathMtu::k256, {8, 0, 4, 0, 64});
  post(WrOpcode::kSend, 100);
  requests();
  response({.opcode = Opcode::kXrcAcknowledge,
            .psn = kLocalPsn,
            .aeth = {Aeth::nak(NakCode::kInvalidRequest), 0}});
  EXPECT_EQ(send_completions().at(0).status, WcStatus::kRemInvReqErr);
  EXPECT_EQ(qp->state, QpState::kErr);
}

// --- the target --------------------------------------------------------------------------------

class XrcTarget : public QpFixture {
 protected:
  static constexpr uint32_t kOtherPd = 8;
  static constexpr Key kOtherKey{0x0202};  // the whole buffer again, in kOtherPd

  XrcTarget() {
    keys.publish(kOtherKey, {buffer.data(), address(0), buffer.size(), kOtherPd, kAllAccess});
    make_target();
  }
  void make_target() {
    make(QpType::kXrcTgt, false, PathMtu::k1024, {0, 1, 0, XrcQueue::kSges, 0});
    qp->pd = qp->recv_pd = 0;
    qp->send_cq = qp->recv_cq = nullptr;
    qp->xrc_domain = kXrcDomain;
    qp->attributes.access = kAllAccess;
  }
  PeerPacket packet(Opcode opcode, uint32_t number, size_t payload = 4) {
    PeerPacket p;
    p.opcode = opcode;
    p.psn = qp->resp.expected_psn;
    p.payload = pattern(payload);
    p.srq_number = number;
    p.reth = {address(0), kKey, static_cast<uint32_t>(payload)};
    return p;
  }
  PeerPacket read(uint32_t number, uint32_t length, Key key) {
    PeerPacket p = packet(Opcode::kXrcReadRequest, number, 0);
    p.reth = {address(0), key, length};
    return p;
  }
  Sent only_answer() {
    std::vector<Sent> out = responses();
    EXPECT_EQ(out.size(), 1u);
    return std::move(out.at(0));
  }
  // The packet is answered with this NAK and the queue pair ends.
  void expect_refused(const PeerPacket& p, NakCode code) {
    responses();
    events();
    request(p);
    const Sent nak = only_answer();
    EXPECT_EQ(nak.opcode(), Opcode::kXrcAcknowledge);
    EXPECT_EQ(nak.aeth().syndrome, Aeth::nak(code));
    EXPECT_EQ(nak.frame.psn, p.psn);
    EXPECT_EQ(qp->state, QpState::kErr);
    std::vector<EventType> expected{EventType::kQpLastWqeReached};
    // A completion with an error says the rest.
    if (code == NakCode::kRemoteAccess) expected.insert(expected.begin(), EventType::kQpAccessErr);
    if (code == NakCode::kInvalidRequest) expected.insert(expected.begin(), EventType::kQpReqErr);
    EXPECT_EQ(events(), expected);
  }
  static std::vector<uint64_t> ids(const std::vector<Cqe>& completions) {
    std::vector<uint64_t> out;
    for (const Cqe& cqe : completions) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      EXPECT_EQ(cqe.qpn, kQpn.value());
      out.push_back(cqe.wr_id);
    }
    return out;
  }
  using Ids = std::vector<uint64_t>;

  XrcQueue first{env, kFirstNumber, kPd};
  XrcQueue second{env, kSecondNumber, kOtherPd};
};

TEST_F(XrcTarget, EachMessageGoesToTheQueueThatItNames) {
  first.post(1, {sge(0, 64)});
  second.post(2, {sge(4096, 64, kOtherKey)});
  second.post(3, {sge(8192, 64, kOtherKey)});
  request(packet(Opcode::kXrcSendOnly, kSecondNumber));
  PeerPacket with_immediate = packet(Opcode::kXrcSendOnlyImmediate, kFirstNumber, 5);
  with_immediate.immediate_be = 0x11223344;
  request(with_immediate);
  request(packet(Opcode::kXrcSendOnly, kSecondNumber, 6));
  EXPECT_EQ(ids(second.completions()), (Ids{2, 3}));
  const std::vector<Cqe> done = first.completions();
  EXPECT_EQ(ids(done), Ids{1});
  EXPECT_EQ(done[0].immediate_be, 0x11223344u);
  EXPECT_EQ(bytes_at(0, 5), pattern(5));
  EXPECT_EQ(bytes_at(4096, 4), pattern(4));
  EXPECT_EQ(bytes_at(8192, 6), pattern(6));
}

TEST_F(XrcTarget, AnswersAreOfXrcAndNameNoQueue) {
  first.post(1, {sge(0, 64)});
  request(packet(Opcode::kXrcSendOnly, kFirstNumber));
  const Sent ack = only_answer();
  EXPECT_EQ(ack.opcode(), Opcode::kXrcAcknowledge);
  EXPECT_EQ(ack.frame.dest_qpn, kPeerQpn);
  EXPECT_EQ(ack.aeth(), (Aeth{Aeth::kAckNoCredits, 1}));
}

TEST_F(XrcTarget, TheFirstPacketOfAMessageDecides) {
  first.post(1, {sge(0, 4096)});
  second.post(2, {sge(8192, 4096, kOtherKey)});
  request(packet(Opcode::kXrcSendFirst, kFirstNumber, 1024));
  request(packet(Opcode::kXrcSendMiddle, kFirstNumber, 1024));
  request(packet(Opcode::kXrcSendLast, kFirstNumber, 10));
  EXPECT_EQ(ids(first.completions()), Ids{1});
  EXPECT_TRUE(second.completions().empty());
  EXPECT_EQ(second.queued(), 1u);
}

TEST_F(XrcTarget, WritesWithImmediateCompleteInTwoQueues) {
  first.post(1, {});
  second.post(2, {});
  PeerPacket write = packet(Opcode::kXrcWriteOnlyImmediate, kFirstNumber, 8);
  request(write);
  write = packet(Opcode::kXrcWriteFirst, kSecondNumber, 1024);
  write.reth = {address(2048), kOtherKey, 1030};
  request(write);
  request(packet(Opcode::kXrcWriteLastImmediate, kSecondNumber, 6));
  EXPECT_EQ(ids(first.completions()), Ids{1});
  const std::vector<Cqe> done = second.completions();
  EXPECT_EQ(ids(done), Ids{2});
  EXPECT_EQ(done[0].opcode, WcOpcode::kRecvRdmaWithImm);
  EXPECT_EQ(done[0].byte_len, 1030u);
  EXPECT_EQ(bytes_at(2048, 1024), pattern(1024));
}

TEST_F(XrcTarget, KeysAreThoseOfTheNamedQueuesDomain) {
  request(packet(Opcode::kXrcWriteOnly, kFirstNumber));
  EXPECT_EQ(qp->state, QpState::kRts);
  expect_refused(packet(Opcode::kXrcWriteOnly, kSecondNumber), NakCode::kRemoteAccess);

  make_target();
  expect_refused(read(kSecondNumber, 100, kKey), NakCode::kRemoteAccess);

  make_target();
  second.post(5, {sge(0, 64, kKey)});  // an L_Key of the other domain
  expect_refused(packet(Opcode::kXrcSendOnly, kSecondNumber), NakCode::kRemoteOperational);
  EXPECT_EQ(second.completions().at(0).status, WcStatus::kLocProtErr);
}

TEST_F(XrcTarget, OnlyAQueueOfItsDomainWillDo) {
  XrcQueue elsewhere{env, 0x000599, kPd, kXrcDomain + 1};
  for (const uint32_t number : {0u, kFirstNumber ^ 1, 0xFFFFFFu, 0x000599u}) {
    make_target();
    for (XrcQueue* queue : {&first, &elsewhere}) {
      if (!queue->full()) queue->post(1, {sge(0, 64)});
    }
    expect_refused(packet(Opcode::kXrcSendOnly, number), NakCode::kInvalidRequest);
    make_target();
    expect_refused(packet(Opcode::kXrcWriteOnly, number), NakCode::kInvalidRequest);
    make_target();
    expect_refused(read(number, 8, kKey), NakCode::kInvalidRequest);
  }
  EXPECT_TRUE(first.completions().empty()) << "no WQE of anybody's was touched";
}

TEST_F(XrcTarget, AnEmptyQueueIsNotReadyWhateverTheOthersHold) {
  first.post(1, {sge(0, 64)});
  const PeerPacket send = packet(Opcode::kXrcSendOnly, kSecondNumber);
  request(send);
  EXPECT_EQ(only_answer().aeth().kind(), wire::AethKind::kRnrNak);
  EXPECT_EQ(qp->state, QpState::kRts);
  second.post(2, {sge(4096, 64, kOtherKey)});
  request(send);
  EXPECT_EQ(only_answer().aeth().kind(), wire::AethKind::kAck);
  EXPECT_EQ(ids(second.completions()), Ids{2});
  EXPECT_EQ(first.queued(), 1u);
}

// The answer to a READ is made later: in the domain of the READ, not of what came after it.
TEST_F(XrcTarget, AReadIsAnsweredFromItsOwnDomain) {
  fill(0, 2000);
  second.post(2, {sge(8192, 64, kOtherKey)});
  const PeerPacket asked = read(kFirstNumber, 2000, kKey);
  request(asked);
  request(packet(Opcode::kXrcSendOnly, kSecondNumber));
  std::vector<Sent> out = responses();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].opcode(), Opcode::kXrcReadResponseFirst);
  EXPECT_EQ(out[1].opcode(), Opcode::kXrcReadResponseLast);
  EXPECT_EQ(out[0].payload(), bytes_at(0, 1024));
  EXPECT_EQ(out[2].aeth().kind(), wire::AethKind::kAck);
  request(asked);  // the same once more
  out = responses();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].payload(), bytes_at(1024, 976));
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(XrcTarget, AnAtomicIsExecutedOnceInTheNamedDomain) {
  PeerPacket add = packet(Opcode::kXrcFetchAdd, kSecondNumber, 0);
  add.atomic = {address(0), kOtherKey, 5, 0};
  request(add);
  request(add);
  const std::vector<Sent> out = responses();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].opcode(), Opcode::kXrcAtomicAcknowledge);
  EXPECT_EQ(bytes_at(0, 1).at(0), 5);
  add = packet(Opcode::kXrcFetchAdd, kFirstNumber, 0);
  add.atomic = {address(0), kOtherKey, 5, 0};
  expect_refused(add, NakCode::kRemoteAccess);
}

TEST_F(XrcTarget, ErrorFlushesTheMessageInProgressToItsQueueAndNoMore) {
  first.post(1, {sge(0, 4096)});
  first.post(2, {sge(0, 4096)});
  second.post(3, {sge(0, 4096, kOtherKey)});
  request(packet(Opcode::kXrcSendFirst, kFirstNumber, 1024));
  move_to_error(*qp, env);
  const std::vector<Cqe> done = first.completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 1u);
  EXPECT_EQ(done[0].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(first.queued(), 1u);
  EXPECT_TRUE(second.completions().empty());
  EXPECT_EQ(events(), std::vector{EventType::kQpLastWqeReached});

  make_target();  // and one that has never received anything
  move_to_error(*qp, env);
  EXPECT_EQ(events(), std::vector{EventType::kQpLastWqeReached});
}

TEST_F(XrcTarget, AQueueThatGoesTakesItsMessageAlong) {
  first.post(1, {sge(0, 4096)});
  request(packet(Opcode::kXrcSendFirst, kFirstNumber, 1024));
  leave_queue(*qp, second.srq);  // not that one
  EXPECT_EQ(qp->srq, &first.srq);
  env.xrc_queues.remove(first.srq);
  leave_queue(*qp, first.srq);
  expect_refused(packet(Opcode::kXrcSendLast, kFirstNumber), NakCode::kInvalidRequest);
  EXPECT_TRUE(first.completions().empty());
}

TEST_F(XrcTarget, AQueueThatGoesBetweenMessagesIsOneThatDoesNotExist) {
  first.post(1, {sge(0, 64)});
  request(packet(Opcode::kXrcSendOnly, kFirstNumber));
  EXPECT_EQ(first.completions().size(), 1u);
  env.xrc_queues.remove(first.srq);
  leave_queue(*qp, first.srq);
  second.post(2, {sge(0, 64, kOtherKey)});
  request(packet(Opcode::kXrcSendOnly, kSecondNumber));
  EXPECT_EQ(ids(second.completions()), Ids{2});
  expect_refused(packet(Opcode::kXrcSendOnly, kFirstNumber), NakCode::kInvalidRequest);
}

}  // namespace
}  // namespace uroce::transport
