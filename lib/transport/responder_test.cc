// SPDX-License-Identifier: BSD-3-Clause
// The responder on good packets: placing, completing, acknowledging, and gaps.
#include "transport/responder.h"

#include "transport/qp_fixture.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

class ResponderTest : public QpFixture {
 protected:
  // A message of the peer's, cut at the path MTU; AckReq on the last packet. `imm` as it is.
  std::vector<PeerPacket> message(bool write, const std::vector<uint8_t>& data, uint64_t remote = 0,
                                  std::optional<uint32_t> imm = {}) {
    const uint32_t mtu = qp->mtu_bytes;
    const auto size = static_cast<uint32_t>(data.size());
    std::vector<PeerPacket> out;
    uint32_t at = 0;
    do {
      const uint32_t n = std::min(mtu, size - at);
      const bool first = at == 0;
      const bool last = at + n == size;
      PeerPacket p;
      const uint32_t code = first && last ? 4 : last ? 2 : first ? 0 : 1;
      const uint32_t op = (write ? 6 : 0) + code + (last && imm ? 1 : 0);
      p.opcode = static_cast<Opcode>(op);
      p.psn = psn_;
      ++psn_;
      p.payload.assign(data.begin() + at, data.begin() + at + n);
      p.ack_request = last;
      p.reth = {remote, kKey, size};
      p.immediate_be = imm.value_or(0);
      out.push_back(p);
      at += n;
    } while (at < size);
    return out;
  }
  void deliver(const std::vector<PeerPacket>& packets) {
    for (const PeerPacket& p : packets) request(p);
  }
  PeerPacket read(size_t offset, uint32_t length, Key key = kKey) {
    PeerPacket p;
    p.opcode = Opcode::kRcReadRequest;
    p.psn = psn_;
    p.reth = {address(offset), key, length};
    psn_ = psn_ + read_packets(length);
    return p;
  }
  uint32_t read_packets(uint32_t length) const {
    return length == 0 ? 1 : (length + qp->mtu_bytes - 1) / qp->mtu_bytes;
  }
  void expect_ack(uint32_t psn, uint32_t msn) {
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].opcode(), Opcode::kRcAcknowledge);
    EXPECT_EQ(out[0].psn(), psn);
    EXPECT_EQ(out[0].aeth(), (wire::Aeth{0x1F, msn}));
  }
  Psn psn_ = kPeerPsn;
};

TEST_F(ResponderTest, SendOnlyCompletesAReceiveAndIsAcknowledged) {
  post_recv(100, 64, 42);
  env.now = Time(Duration(123456789));
  PeerPacket p = message(false, pattern(5))[0];
  p.solicited = true;
  request(p);
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 42u);
  EXPECT_EQ(done[0].status, WcStatus::kSuccess);
  EXPECT_EQ(done[0].opcode, WcOpcode::kRecv);
  EXPECT_EQ(done[0].byte_len, 5u);
  EXPECT_EQ(done[0].qpn, kQpn.value());
  EXPECT_EQ(done[0].qp, qp->user);
  EXPECT_EQ(done[0].arrival_ns, 123456789);
  EXPECT_EQ(done[0].wc_flags, kWcGrh);
  EXPECT_EQ(done[0].solicited, 1);
  EXPECT_EQ(bytes_at(100, 6), (std::vector<uint8_t>{1, 2, 3, 4, 5, 0}));
  expect_ack(0x500, 1);
  EXPECT_EQ(counters.rdma_recvs.value(), 1u);
  EXPECT_EQ(counters.received_bytes.value(), 5u);
}

TEST_F(ResponderTest, EveryReceiveSaysWhenItsLastPacketCameAndByWhoseClock) {
  const std::vector<PeerPacket> packets = message(false, pattern(qp->mtu_bytes + 44), 0, 7);
  ASSERT_GT(packets.size(), 1u);
  post_recv(0, 2 * qp->mtu_bytes);
  Duration came{1000};
  for (const PeerPacket& p : packets) {
    const auto bytes = craft(p);
    wire::ParsedFrame frame{};
    ASSERT_EQ(wire::parse_roce(bytes, {}, frame), wire::Drop::kNone);
    receive_request(*qp, env, frame, {Time(came += Duration(10)), true});
  }
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].arrival_ns, came.count());
  EXPECT_EQ(done[0].wc_flags, kWcGrh | kWcWithImm | kWcRxTimeHardware);
}

// case 31, and every form of SEND: immediate or not, one or three elements
TEST_F(ResponderTest, SendsOfEveryLengthAtEveryPathMtuLandWhole) {
  for (const PathMtu mtu :
       {PathMtu::k256, PathMtu::k512, PathMtu::k1024, PathMtu::k2048, PathMtu::k4096}) {
    const uint32_t m = bytes(mtu);
    for (const uint32_t length : {0u, 1u, m - 1, m, m + 1, 2 * m, 2 * m + 1, 65537u}) {
      make(QpType::kRc, false, mtu);
      psn_ = kPeerPsn;
      std::fill(buffer.begin(), buffer.begin() + 140000, uint8_t{0xEE});
      if (length == 2 * m) {
        post_recv({sge(10, 3), sge(200, m), sge(8192, m)}, 1);
      } else {
        post_recv(10, length, 1);
      }
      const auto data = pattern(length, static_cast<uint8_t>(m / 256));
      deliver(message(false, data, 0,
                      (length & 1) != 0 ? std::optional<uint32_t>(0xAABBCCDD) : std::nullopt));
      const auto done = recv_completions();
      ASSERT_EQ(done.size(), 1u) << m << ' ' << length;
      EXPECT_EQ(done[0].byte_len, length);
      if ((length & 1) != 0) {
        EXPECT_EQ(done[0].wc_flags, kWcGrh | kWcWithImm);
        EXPECT_EQ(done[0].immediate_be, 0xAABBCCDD);
      }
      std::vector<uint8_t> got;
      if (length == 2 * m) {
        for (const auto& part : {bytes_at(10, 3), bytes_at(200, m), bytes_at(8192, m - 3)}) {
          got.insert(got.end(), part.begin(), part.end());
        }
        EXPECT_EQ(buffer[13], 0xEE);
        EXPECT_EQ(buffer[8192 + m - 3], 0xEE);
      } else {
        got = bytes_at(10, length);
        EXPECT_EQ(buffer[9], 0xEE);
        EXPECT_EQ(buffer[10 + length], 0xEE);
      }
      EXPECT_EQ(got, data);
      expect_ack(psn_.value() - 1, 1);
    }
  }
}

// case 31
TEST_F(ResponderTest, WritesOfEveryLengthAtEveryPathMtuLandWhole) {
  for (const PathMtu mtu :
       {PathMtu::k256, PathMtu::k512, PathMtu::k1024, PathMtu::k2048, PathMtu::k4096}) {
    const uint32_t m = bytes(mtu);
    for (const uint32_t length :
         {0u, 1u, 7u, 8u, 9u, m - 1, m, m + 1, 2 * m, 2 * m + 1, 65535u, 65537u, 1048579u}) {
      make(QpType::kRc, true, mtu);
      psn_ = kPeerPsn;
      buffer[99] = buffer[100 + length] = 0xEE;
      const auto data = pattern(length, static_cast<uint8_t>(length));
      deliver(message(true, data, address(100)));
      EXPECT_EQ(bytes_at(100, length), data) << m << ' ' << length;
      EXPECT_EQ(buffer[99], 0xEE);
      EXPECT_EQ(buffer[100 + length], 0xEE);
      expect_ack(psn_.value() - 1, 1);
      EXPECT_TRUE(recv_completions().empty());
    }
  }
}

TEST_F(ResponderTest, WriteWithImmediateTakesAReceiveAndTellsTheLengthOfTheWrite) {
  post_recv(0, 0, 7);
  deliver(message(true, pattern(2500), address(0), 0x01020304));
  auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 7u);
  EXPECT_EQ(done[0].opcode, WcOpcode::kRecvRdmaWithImm);
  EXPECT_EQ(done[0].byte_len, 2500u);
  EXPECT_EQ(done[0].immediate_be, 0x01020304u);
  EXPECT_EQ(done[0].wc_flags, kWcGrh | kWcWithImm);
  post_recv(0, 0, 8);
  deliver(message(true, {}, 0, 5));
  done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].byte_len, 0u);
  EXPECT_EQ(counters.rx_write_requests.value(), 2u);
  EXPECT_EQ(counters.received_bytes.value(), 2500u);
}

// case 26
TEST_F(ResponderTest, EveryMessageTakesAPsnEvenWhenEmpty) {
  post_recv(0, 10);
  post_recv(0, 10);
  post_recv(0, 1024);
  deliver(message(false, {}));
  deliver(message(false, pattern(1)));
  deliver(message(true, {}));
  request(read(0, 0));
  deliver(message(false, pattern(1024)));
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x505));
  EXPECT_EQ(qp->resp.msn, 5u);
  EXPECT_EQ(recv_completions().size(), 3u);
}

// case 28, case 29
TEST_F(ResponderTest, EmptyReadAndWriteDoNotLookAtTheKey) {
  PeerPacket p = read(0, 0);
  p.reth = {0xFFFFFFFFFFFFFFFF, Key(0xDEADBEEF), 0};
  request(p);
  auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcReadResponseOnly);
  EXPECT_EQ(out[0].frame.payload_length, 0u);
  EXPECT_EQ(out[0].aeth().msn, 1u);
  p = message(true, {})[0];
  p.reth = {0x1234, Key(0xDEADBEEF), 0};
  request(p);
  expect_ack(0x501, 2);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(ResponderTest, ReadReturnsMemoryAndCountsTheMessageAtOnce) {
  fill(64, 2100);
  request(read(64, 2100));
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x503));
  const auto out = responses();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcReadResponseFirst);
  EXPECT_EQ(out[2].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(out[0].aeth(), (wire::Aeth{0x1F, 1}));
  EXPECT_FALSE(out[0].frame.ack_request());
  EXPECT_EQ(out[2].payload(), bytes_at(64 + 2048, 52));
  EXPECT_EQ(counters.rx_read_requests.value(), 1u);
}

TEST_F(ResponderTest, ABurstOfSendsGetsOneAck) {
  for (int i = 0; i < 40; ++i) post_recv(0, 16);
  for (int i = 0; i < 40; ++i) deliver(message(false, pattern(4)));
  expect_ack(0x500 + 39, 40);
  EXPECT_EQ(recv_completions().size(), 40u);
}

TEST_F(ResponderTest, OnlyWhatAsksIsAcknowledgedAMiddleToo) {  // case 92
  post_recv(0, 4096);
  auto packets = message(false, pattern(3000));
  packets[2].ack_request = false;
  request(packets[0]);
  EXPECT_TRUE(responses().empty());
  packets[1].ack_request = true;
  request(packets[1]);
  expect_ack(0x501, 0);
  request(packets[2]);
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(recv_completions().size(), 1u);
}

TEST_F(ResponderTest, WriteThenReadWithoutAckReqIsAnsweredByTheReadAlone) {
  auto write = message(true, pattern(4), address(0));
  write[0].ack_request = false;
  deliver(write);
  PeerPacket p = read(0, 4);
  p.ack_request = false;
  request(p);
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcReadResponseOnly);
  EXPECT_EQ(out[0].payload(), pattern(4));
  EXPECT_EQ(out[0].aeth().msn, 2u);
}

TEST_F(ResponderTest, AnswersStayInTheOrderOfTheRequests) {
  post_recv(0, 16);
  deliver(message(true, pattern(4), address(0)));
  request(read(0, 1500));
  deliver(message(false, pattern(4)));
  const auto out = responses();
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].psn(), 0x500u);
  EXPECT_EQ(out[1].opcode(), Opcode::kRcReadResponseFirst);
  EXPECT_EQ(out[2].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(out[3].opcode(), Opcode::kRcAcknowledge);
  EXPECT_EQ(out[3].psn(), 0x503u);
}

TEST_F(ResponderTest, MoreReadsThanSlotsAreAllAnsweredInTurn) {
  for (uint32_t i = 0; i < 12; ++i) request(read(2048 * i, 2000));
  const auto out = responses();
  ASSERT_EQ(out.size(), 24u);
  for (uint32_t i = 0; i < 24; ++i) EXPECT_EQ(out[i].psn(), 0x500 + i);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(ResponderTest, OneNakPerGapAndNoneForTheRestOfIt) {
  post_recv(0, 16);
  post_recv(0, 16);
  PeerPacket p{.psn = kPeerPsn + 2, .payload = pattern(4)};
  p.ack_request = false;
  request(p);
  auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].psn(), 0x500u);
  EXPECT_EQ(out[0].aeth(), (wire::Aeth{0x60, 0}));
  request({.psn = kPeerPsn + 3, .payload = pattern(4)});
  request({.psn = kPeerPsn + 0x7FFFFF, .payload = pattern(4)});
  EXPECT_TRUE(responses().empty());
  deliver(message(false, pattern(4)));
  expect_ack(0x500, 1);
  request({.psn = kPeerPsn + 2, .payload = pattern(4)});
  out = responses();
  ASSERT_EQ(out.size(), 1u) << "a new gap";
  EXPECT_EQ(out[0].psn(), 0x501u);
  EXPECT_EQ(out[0].aeth().msn, 1u);
  EXPECT_EQ(recv_completions().size(), 1u);
  EXPECT_EQ(counters.out_of_sequence.value(), 2u);
  EXPECT_EQ(dropped(wire::Drop::kOutOfOrder), 4u);
}

TEST_F(ResponderTest, PsnWrapsAround) {
  qp->resp.expected_psn = psn_ = Psn(0xFFFFFF);
  qp->resp.msn = 0xFFFFFF;
  deliver(message(true, pattern(2048), address(0)));
  expect_ack(0, 0);
}

// case 20, case 19: the code of the QP in the NAK; no NAK 0x60 behind an RNR NAK
TEST_F(ResponderTest, ReceiverNotReadyIsToldOnceAndTheRestOfTheMessageIsIgnored) {
  qp->attributes.min_rnr_timer = 31;
  const auto packets = message(false, pattern(3000));
  for (int attempt = 1; attempt <= 2; ++attempt) {
    deliver(packets);
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].psn(), 0x500u);
    EXPECT_EQ(out[0].aeth(), (wire::Aeth{0x3F, 0}));
    EXPECT_EQ(counters.rnr_nak_sent.value(), static_cast<uint64_t>(attempt));
  }
  EXPECT_EQ(qp->resp.expected_psn, kPeerPsn);
  EXPECT_EQ(qp->recv_queue_empty.value(), 2u);
  EXPECT_EQ(counters.out_of_sequence.value(), 0u);
  post_recv(0, 3000);
  deliver(packets);
  expect_ack(0x502, 1);
  request({.psn = kPeerPsn + 5, .payload = pattern(4)});
  EXPECT_EQ(responses().size(), 1u) << "gaps count again";
}

TEST_F(ResponderTest, WriteWithImmediateAndNoReceiveIsRefusedAtItsLastPacket) {
  const auto packets = message(true, pattern(1500), address(0), 9);
  deliver(packets);
  auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].psn(), 0x501u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x20 | 12);
  EXPECT_EQ(bytes_at(0, 1024), pattern(1024)) << "earlier packets were written";
  EXPECT_EQ(buffer[1024], 0);
  post_recv(0, 0, 1);
  request(packets[1]);
  expect_ack(0x501, 1);
  EXPECT_EQ(bytes_at(0, 1500), pattern(1500));
}

TEST_F(ResponderTest, FirstValidPacketInRtrRaisesCommEstablishedOnce) {
  put_state(QpState::kRtr);
  request({.psn = kPeerPsn + 1, .payload = pattern(4)});
  EXPECT_TRUE(events().empty());
  const auto packets = message(false, pattern(4));
  deliver(packets);  // no receive: valid all the same
  EXPECT_EQ(events(), std::vector<EventType>{EventType::kCommEst});
  post_recv(0, 4);
  deliver(packets);
  EXPECT_TRUE(events().empty());
}

TEST_F(ResponderTest, NoCommEstablishedWhenAlreadyInRts) {
  post_recv(0, 4);
  deliver(message(false, pattern(4)));
  EXPECT_TRUE(events().empty());
}

TEST_F(ResponderTest, RequestsAreTakenInSqdAndSqeAndDroppedBelowRtr) {
  for (const QpState state : {QpState::kSqd, QpState::kSqe}) {
    put_state(state);
    deliver(message(true, pattern(4), address(0)));
  }
  expect_ack(0x501, 2);
  for (const QpState state : {QpState::kReset, QpState::kInit, QpState::kErr}) {
    put_state(state);
    deliver(message(true, pattern(4), address(0)));
  }
  EXPECT_EQ(dropped(wire::Drop::kQpState), 3u);
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x502));
}

TEST_F(ResponderTest, FullCompletionQueueEndsTheQueuePairWithoutAnAck) {
  make(QpType::kRc, false, PathMtu::k1024, {64, 64, 4, 4, 64}, 1);
  post_recv(0, 16);
  post_recv(0, 16);
  deliver(message(false, pattern(4)));
  deliver(message(false, pattern(4)));
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(events(), (std::vector<EventType>{EventType::kCqErr, EventType::kQpFatal}));
  EXPECT_EQ(recv_completions().size(), 1u);
}

}  // namespace
}  // namespace uroce::transport
