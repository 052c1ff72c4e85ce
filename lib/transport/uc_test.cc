// SPDX-License-Identifier: BSD-3-Clause
// Unreliable connections: messages in packets that nobody answers, complete when they have left;
// and what a receiver does when one of them is lost.
#include "transport/uc.h"

#include <random>

#include "transport/error_class.h"
#include "transport/qp_fixture.h"
#include "transport/qp_state.h"
#include "transport/requester.h"
#include "transport/responder.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Drop;
using wire::Opcode;

class UcSender : public QpFixture {
 protected:
  UcSender() { make(QpType::kUc); }
  void post(WrOpcode opcode, uint32_t length, uint64_t wr_id, uint8_t flags = kSendSignaled) {
    post_send({.opcode = opcode,
               .sges = {sge(7, length)},
               .flags = flags,
               .wr_id = wr_id,
               .remote_address = 0x9000,
               .rkey = 0x1234,
               .immediate_be = 0xAABBCCDD});
  }
  using Opcodes = std::vector<Opcode>;
  static Opcodes opcodes(const std::vector<Sent>& packets) {
    Opcodes out;
    for (const Sent& s : packets) out.push_back(s.opcode());
    return out;
  }
};

TEST_F(UcSender, EachOperationHasItsOpcodesAndNoPacketAsksForAnAck) {
  fill(0, 4096);
  post(WrOpcode::kSend, 2500, 1);
  post(WrOpcode::kSendWithImm, 1025, 2, kSendSignaled | kSendSolicited);
  post(WrOpcode::kRdmaWrite, 2048, 3);
  post(WrOpcode::kRdmaWriteWithImm, 2049, 4);
  post(WrOpcode::kSend, 0, 5);
  post(WrOpcode::kSendWithImm, 4, 6);
  post(WrOpcode::kRdmaWrite, 1024, 7);
  post(WrOpcode::kRdmaWriteWithImm, 3, 8);
  const auto out = unreliables();
  EXPECT_EQ(
      opcodes(out),
      (Opcodes{Opcode::kUcSendFirst, Opcode::kUcSendMiddle, Opcode::kUcSendLast,
               Opcode::kUcSendFirst, Opcode::kUcSendLastImmediate, Opcode::kUcWriteFirst,
               Opcode::kUcWriteLast, Opcode::kUcWriteFirst, Opcode::kUcWriteMiddle,
               Opcode::kUcWriteLastImmediate, Opcode::kUcSendOnly, Opcode::kUcSendOnlyImmediate,
               Opcode::kUcWriteOnly, Opcode::kUcWriteOnlyImmediate}));
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_FALSE(out[i].frame.ack_request());
    EXPECT_EQ(out[i].psn(), kLocalPsn.value() + i);
    EXPECT_EQ(out[i].frame.solicited(), i == 4);
    EXPECT_EQ(out[i].frame.dest_qpn, kPeerQpn);
    if (out[i].frame.info->imm == 0) continue;
    EXPECT_EQ(out[i].frame.imm().network_order, 0xAABBCCDDu);
  }
  EXPECT_EQ(out[5].reth(), (wire::Reth{0x9000, Key(0x1234), 2048}));
  EXPECT_EQ(out[1].payload(), bytes_at(7 + 1024, 1024));
  EXPECT_EQ(out[2].payload(), bytes_at(7 + 2048, 452));
  EXPECT_EQ(next_deadline(*qp), kNever) << "nothing is waited for";
}

TEST_F(UcSender, AMessageIsCompleteWhenItsLastPacketHasLeft) {
  post(WrOpcode::kRdmaWrite, 2049, 1);
  post(WrOpcode::kSend, 4, 2, 0);
  unreliables(2);
  EXPECT_TRUE(send_completions().empty());
  unreliables(1);
  const auto cqes = send_completions();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].wr_id, 1u);
  EXPECT_EQ(cqes[0].byte_len, 2049u);
  EXPECT_EQ(cqes[0].opcode, WcOpcode::kRdmaWrite);
  EXPECT_EQ(unreliables().size(), 1u);
  EXPECT_TRUE(send_completions().empty()) << "not signalled";
  EXPECT_EQ(qp->queues->send.consumer.load(), 2u);
  EXPECT_EQ(query_attributes(*qp).sq_psn, kLocalPsn + 4);
  EXPECT_EQ(counters.sent_packets.value(), 4u);
}

TEST_F(UcSender, NoWindowHoldsAMessage) {
  make(QpType::kUc, false, PathMtu::k256);
  post(WrOpcode::kRdmaWrite, 3 << 20, 1);
  EXPECT_EQ(unreliables(1 << 20).size(), (3u << 20) / 256);
  EXPECT_EQ(send_completions().size(), 1u);
}

TEST_F(UcSender, PsnsWrapAround) {
  qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(0xFFFFFF);
  post(WrOpcode::kSend, 1025, 1);
  const auto out = unreliables();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].psn(), 0u);
}

TEST_F(UcSender, DrainingFinishesTheMessageThatWasBegun) {
  post(WrOpcode::kSend, 2049, 1);
  post(WrOpcode::kSend, 4, 2);
  unreliables(1);
  QpAttributes change;
  change.state = QpState::kSqd;
  change.sqd_async_notify = true;
  ASSERT_EQ(apply_modify(*qp, env, change, kAttrState | kAttrEnSqdAsyncNotify), 0);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(unreliables().size(), 2u);
  EXPECT_EQ(events(), std::vector<EventType>{EventType::kSqDrained});
  EXPECT_FALSE(unreliable_ready(*qp, env.now));
  change.state = QpState::kRts;
  ASSERT_EQ(apply_modify(*qp, env, change, kAttrState), 0);
  EXPECT_EQ(unreliables().size(), 1u);
}

// A window that waits for other engines is looked at when it is time, not at every turn.
TEST_F(UcSender, WaitsAsLongAsTheKeysOfItsNextRequestDo) {
  post(WrOpcode::kSend, 4, 1);
  qp->req.keys_until = env.now + std::chrono::microseconds(2);
  EXPECT_FALSE(unreliable_ready(*qp, env.now));
  EXPECT_TRUE(unreliables().empty());
  env.now = qp->req.keys_until;
  EXPECT_EQ(unreliables().size(), 1u);
}

// A failed send harms no receiving: SQE, and back to RTS by modify.
TEST_F(UcSender, ABadLkeyEndsTheSendQueueOnly) {
  const Key small(0x0301);
  keys.publish(small, {buffer.data(), address(0), 1024, kPd, memory::kLocalRead});
  post_recv(0, 64, 77);
  post_send({.sges = {sge(0, 1024), sge(0, 1025, small)}, .wr_id = 1});
  post(WrOpcode::kSend, 4, 2);
  EXPECT_EQ(unreliables().size(), 1u) << "the first part was good";
  const auto cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].status, WcStatus::kLocProtErr);
  EXPECT_EQ(cqes[1].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(qp->state, QpState::kSqe);
  EXPECT_TRUE(recv_completions().empty());
  unreliable({.opcode = Opcode::kUcSendOnly, .psn = kPeerPsn, .payload = pattern(4)});
  EXPECT_EQ(recv_completions().size(), 1u);
  QpAttributes change;
  change.state = QpState::kRts;
  ASSERT_EQ(apply_modify(*qp, env, change, kAttrState), 0);
  post(WrOpcode::kSend, 1025, 3);
  const auto out = unreliables();
  EXPECT_EQ(opcodes(out), (Opcodes{Opcode::kUcSendFirst, Opcode::kUcSendLast}))
      << "the new message begins at its beginning";
  EXPECT_EQ(out[0].psn(), kLocalPsn.value() + 1);
}

TEST_F(UcSender, WhatUcDoesNotHaveIsRefused) {
  for (const WrOpcode opcode :
       {WrOpcode::kRdmaRead, WrOpcode::kAtomicFetchAdd, WrOpcode::kAtomicWrite, WrOpcode::kFlush}) {
    make(QpType::kUc);
    post(opcode, 8, 1);
    EXPECT_TRUE(unreliables().empty());
    const auto cqes = send_completions();
    ASSERT_EQ(cqes.size(), 1u);
    EXPECT_EQ(cqes[0].status, WcStatus::kLocQpOpErr);
    EXPECT_EQ(qp->state, QpState::kSqe);
  }
}

TEST_F(UcSender, AFullCompletionQueueEndsTheQueuePair) {
  make(QpType::kUc, false, PathMtu::k1024, {64, 64, 4, 4, 64}, 1);
  post(WrOpcode::kSend, 4, 1);
  post(WrOpcode::kSend, 4, 2);
  EXPECT_EQ(unreliables().size(), 2u);
  EXPECT_EQ(qp->state, QpState::kErr);
}

class UcReceiver : public QpFixture {
 protected:
  UcReceiver() { make(QpType::kUc); }
  PeerPacket part(Opcode opcode, uint32_t psn, size_t bytes, uint8_t first = 1) {
    return {.opcode = opcode,
            .psn = Psn(psn),
            .payload = pattern(bytes, first),
            .reth = {address(kTarget), kKey, static_cast<uint32_t>(bytes)},
            .immediate_be = 0x11223344};
  }
  PeerPacket write_first(uint32_t psn, uint32_t length) {
    PeerPacket p = part(Opcode::kUcWriteFirst, psn, 1024);
    p.reth.length_bytes = length;
    return p;
  }
  // wr_id and byte_len of the receive completions, all good.
  using Received = std::vector<std::pair<uint64_t, uint32_t>>;
  Received received() {
    Received out;
    for (const Cqe& cqe : recv_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      out.emplace_back(cqe.wr_id, cqe.byte_len);
    }
    return out;
  }
  void post_two() {
    post_recv(0, 4096, 1);
    post_recv(8192, 4096, 2);
  }
  static constexpr size_t kTarget = 1 << 20;
};

TEST_F(UcReceiver, SendsAndWritesArriveWholeAndNobodyAnswers) {
  post_two();
  unreliable(part(Opcode::kUcSendFirst, 0x500, 1024));
  unreliable(part(Opcode::kUcSendMiddle, 0x501, 1024, 2));
  unreliable(part(Opcode::kUcSendLastImmediate, 0x502, 5, 3));
  unreliable(write_first(0x503, 1030));
  unreliable(part(Opcode::kUcWriteLast, 0x504, 6, 9));
  unreliable(part(Opcode::kUcWriteOnlyImmediate, 0x505, 8));
  const auto cqes = recv_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].wr_id, 1u);
  EXPECT_EQ(cqes[0].byte_len, 2053u);
  EXPECT_EQ(cqes[0].opcode, WcOpcode::kRecv);
  EXPECT_EQ(cqes[0].wc_flags, kWcGrh | kWcWithImm);
  EXPECT_EQ(cqes[0].immediate_be, 0x11223344u);
  EXPECT_EQ(cqes[1].opcode, WcOpcode::kRecvRdmaWithImm);
  EXPECT_EQ(cqes[1].byte_len, 8u);
  EXPECT_EQ(bytes_at(1024, 1024), pattern(1024, 2));
  EXPECT_EQ(bytes_at(2048, 6), (std::vector<uint8_t>{3, 4, 5, 6, 7, 0}));
  EXPECT_EQ(bytes_at(kTarget + 1024, 6), pattern(6, 9));
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x506));
  EXPECT_FALSE(response_ready(*qp));
  EXPECT_EQ(counters.rx_write_requests.value(), 2u);
}

// The sender of AckReq on UC gets none. case 92
TEST_F(UcReceiver, AckReqIsIgnored) {
  post_two();
  PeerPacket p = part(Opcode::kUcSendOnly, 0x500, 4);
  p.ack_request = true;
  unreliable(p);
  EXPECT_EQ(received().size(), 1u);
  EXPECT_FALSE(response_ready(*qp));
}

TEST_F(UcReceiver, ALostMiddleLosesItsMessageOnly) {
  post_two();
  unreliable(part(Opcode::kUcSendFirst, 0x500, 1024));
  unreliable(part(Opcode::kUcSendMiddle, 0x502, 1024));
  unreliable(part(Opcode::kUcSendLast, 0x503, 4));
  EXPECT_TRUE(received().empty());
  EXPECT_EQ(dropped(Drop::kMessageBroken), 2u);
  unreliable(part(Opcode::kUcSendFirst, 0x504, 1024, 40));
  unreliable(part(Opcode::kUcSendLast, 0x505, 4, 50));
  EXPECT_EQ(received(), (Received{{1, 1028}})) << "the receive of the broken one is used again";
  EXPECT_EQ(bytes_at(0, 1024), pattern(1024, 40));
  EXPECT_EQ(bytes_at(1024, 4), pattern(4, 50));
}

TEST_F(UcReceiver, ALostLastLosesItsMessageOnly) {
  post_two();
  unreliable(part(Opcode::kUcSendFirst, 0x500, 1024));
  unreliable(part(Opcode::kUcSendOnly, 0x502, 4, 60));
  EXPECT_EQ(received(), (Received{{1, 4}}));
  EXPECT_EQ(bytes_at(0, 4), pattern(4, 60));
}

TEST_F(UcReceiver, ALostFirstLosesItsMessageOnly) {
  post_two();
  unreliable(part(Opcode::kUcSendMiddle, 0x501, 1024));
  unreliable(part(Opcode::kUcSendLast, 0x502, 4));
  unreliable(part(Opcode::kUcWriteLastImmediate, 0x503, 4));
  EXPECT_EQ(dropped(Drop::kMessageBroken), 3u);
  unreliable(part(Opcode::kUcSendOnly, 0x900, 4));
  EXPECT_EQ(received(), (Received{{1, 4}}));
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x901));
}

// The PSNs go on, but the places in the message do not fit.
TEST_F(UcReceiver, PartsInTheWrongOrderBreakTheMessage) {
  for (const Opcode o : {Opcode::kUcWriteLast, Opcode::kUcWriteMiddle}) {
    make(QpType::kUc);
    post_two();
    unreliable(part(Opcode::kUcSendFirst, 0x500, 1024));
    unreliable(part(o, 0x501, 1024));
    unreliable(part(Opcode::kUcSendLast, 0x502, 4));
    EXPECT_TRUE(received().empty());
  }
  make(QpType::kUc);
  post_two();
  unreliable(part(Opcode::kUcSendLast, 0x500, 4));
  EXPECT_TRUE(received().empty());
  unreliable(part(Opcode::kUcSendFirst, 0x501, 1024));
  unreliable(part(Opcode::kUcSendFirst, 0x502, 1024, 9));
  unreliable(part(Opcode::kUcSendLast, 0x503, 4));
  EXPECT_EQ(received(), (Received{{1, 1028}})) << "the second FIRST starts anew";
  EXPECT_EQ(bytes_at(0, 4), pattern(4, 9));
}

TEST_F(UcReceiver, ABrokenWriteIsNotGoneOnWith) {
  post_two();
  unreliable(write_first(0x500, 3000));
  unreliable(part(Opcode::kUcWriteMiddle, 0x502, 1024, 7));
  unreliable(part(Opcode::kUcWriteLastImmediate, 0x503, 952));
  EXPECT_EQ(bytes_at(kTarget + 1024, 8), std::vector<uint8_t>(8));
  EXPECT_TRUE(received().empty());
  unreliable(part(Opcode::kUcWriteOnly, 0x504, 4, 70));
  EXPECT_EQ(bytes_at(kTarget, 4), pattern(4, 70));
}

TEST_F(UcReceiver, WhatCannotBeTakenIsDroppedByNameAndItsMessageWithIt) {
  struct Row {
    const char* why;
    PeerPacket packet;
    Drop reason;
  };
  PeerPacket unknown = part(Opcode::kUcWriteOnly, 0x500, 4);
  unknown.reth.rkey = Key(0x7700);
  PeerPacket long_write = part(Opcode::kUcWriteOnly, 0x500, 4);
  long_write.reth.length_bytes = 8;
  PeerPacket over_end = write_first(0x500, kBufferBytes);
  const Row rows[] = {
      {"no such key", unknown, Drop::kRdmaRefused},
      {"range runs over the end", over_end, Drop::kRdmaRefused},
      {"RETH and payload disagree", long_write, Drop::kPayloadLength},
      {"short FIRST", part(Opcode::kUcSendFirst, 0x500, 1020), Drop::kPayloadLength},
      {"ONLY above the path MTU", part(Opcode::kUcSendOnly, 0x500, 1028), Drop::kPayloadLength},
      {"longer than the receive", part(Opcode::kUcSendOnly, 0x500, 600), Drop::kRecvBufferShort},
  };
  for (const Row& row : rows) {
    make(QpType::kUc);
    post_recv(0, 512, 1);
    post_recv(0, 512, 2);
    const uint64_t before = dropped(row.reason);
    unreliable(row.packet);
    EXPECT_EQ(dropped(row.reason), before + 1) << row.why;
    EXPECT_EQ(qp->state, QpState::kRts) << row.why;
    unreliable(part(Opcode::kUcSendLast, 0x501, 4));
    EXPECT_TRUE(received().empty()) << row.why;
    unreliable(part(Opcode::kUcSendOnly, 0x502, 4));
    EXPECT_EQ(received(), (Received{{1, 4}})) << row.why;
  }
}

TEST_F(UcReceiver, WithoutTheRightToWriteNothingIsWritten) {
  qp->attributes.access = memory::kRemoteRead;
  unreliable(part(Opcode::kUcWriteOnly, 0x500, 4));
  EXPECT_EQ(bytes_at(kTarget, 4), std::vector<uint8_t>(4));
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(UcReceiver, WithoutAReceiveTheMessageIsLost) {
  unreliable(part(Opcode::kUcSendFirst, 0x500, 1024));
  post_two();
  unreliable(part(Opcode::kUcSendLast, 0x501, 4));
  EXPECT_EQ(dropped(Drop::kRecvQueueEmpty), 1u);
  EXPECT_EQ(dropped(Drop::kMessageBroken), 1u);
  EXPECT_EQ(qp->recv_queue_empty.value(), 1u);
  unreliable(part(Opcode::kUcSendOnly, 0x502, 4));
  EXPECT_EQ(received().size(), 1u);
}

TEST_F(UcReceiver, ABadReceiveBufferEndsTheQueuePairWithoutAWord) {
  post_recv({sge(0, 64, Key(0x7700))}, 1);
  post_recv(0, 64, 2);
  unreliable(part(Opcode::kUcSendOnly, 0x500, 4));
  const auto cqes = recv_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].status, WcStatus::kLocProtErr);
  EXPECT_EQ(cqes[1].status, WcStatus::kWrFlushErr);
  EXPECT_FALSE(response_ready(*qp));
  EXPECT_EQ(counters.resp_remote_operational_errors.value(), 0u);
}

TEST_F(UcReceiver, TheFirstGoodPacketInRtrSaysThatThePeerIsThere) {
  put_state(QpState::kRtr);
  post_two();
  unreliable(part(Opcode::kUcSendMiddle, 0x500, 1024));
  EXPECT_TRUE(events().empty());
  unreliable(part(Opcode::kUcSendOnly, 0x501, 4));
  unreliable(part(Opcode::kUcSendOnly, 0x502, 4));
  EXPECT_EQ(events(), std::vector<EventType>{EventType::kCommEst});
}

TEST_F(UcReceiver, PsnsWrapAroundAndCrossEveryQuarter) {
  qp->resp.expected_psn = Psn(0x3FFFFF);
  post_two();
  unreliable(part(Opcode::kUcSendFirst, 0x3FFFFF, 1024));
  unreliable(part(Opcode::kUcSendLast, 0x400000, 4));
  unreliable(part(Opcode::kUcSendFirst, 0xFFFFFF, 1024));
  unreliable(part(Opcode::kUcSendLast, 0x000000, 4));
  EXPECT_EQ(received().size(), 2u);
}

// Two ends over a network that loses and repeats packets: what completes is a message as it was
// sent, and as many complete as were not hit.
TEST_F(UcReceiver, WhateverIsLostNoMessageIsMixedWithAnother) {
  std::mt19937 random(7);
  uint32_t psn = 0x500;
  uint32_t whole = 0;
  for (int message = 0; message < 400; ++message) {
    const uint32_t parts = 1 + random() % 4;
    const auto mark = static_cast<uint8_t>(message);
    post_recv(0, 4096, static_cast<uint64_t>(message));
    uint32_t lost = 0;
    for (uint32_t i = 0; i < parts; ++i, ++psn) {
      const bool first = i == 0, last = i + 1 == parts;
      const Opcode opcode = first && last ? Opcode::kUcSendOnly
                            : first       ? Opcode::kUcSendFirst
                            : last        ? Opcode::kUcSendLast
                                          : Opcode::kUcSendMiddle;
      if (random() % 8 == 0) {
        ++lost;
        continue;
      }
      unreliable({.opcode = opcode,
                  .psn = Psn(psn & Psn::kMask),
                  .payload = std::vector<uint8_t>(last ? 8 : 1024, mark)});
    }
    const auto cqes = recv_completions();
    ASSERT_EQ(cqes.size(), lost == 0 ? 1u : 0u);
    if (lost != 0) {
      // The receive is still there: take it out of the way of the next.
      qp->queues->recv.consumer.store(qp->queues->recv.producer.load());
      continue;
    }
    ++whole;
    EXPECT_EQ(cqes[0].byte_len, (parts - 1) * 1024 + 8);
    EXPECT_EQ(bytes_at(0, cqes[0].byte_len), std::vector<uint8_t>(cqes[0].byte_len, mark));
  }
  EXPECT_GT(whole, 200u);
  EXPECT_LT(whole, 350u);
}

}  // namespace
}  // namespace uroce::transport
