// SPDX-License-Identifier: BSD-3-Clause
// Datagrams both ways: the header area, the Q_Key, what is dropped by which name.
#include "transport/ud.h"

#include "transport/qp_fixture.h"
#include "wire/checksum.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

class UdTest : public QpFixture {
 protected:
  UdTest() { make(QpType::kUd); }
  PeerPacket packet(std::vector<uint8_t> data, uint32_t qkey = kQkey) {
    PeerPacket p;
    p.opcode = Opcode::kUdSendOnly;
    p.psn = Psn(3);
    p.ack_request = false;
    p.deth = {qkey, kPeerQpn};
    p.payload = std::move(data);
    return p;
  }
  SendRequest send(std::vector<memory::Sge> sges, uint8_t flags = kSendSignaled) {
    SendRequest s;
    s.sges = std::move(sges);
    s.flags = flags;
    s.wr_id = 77;
    s.remote_qpn = kPeerQpn.value();
    s.remote_qkey = 0x01234567;
    return s;
  }
  static std::vector<uint8_t> bytes_of(const uint8_t* from, size_t n) { return {from, from + n}; }
};

// case 58
TEST_F(UdTest, HeaderAreaHoldsTheIpHeaderAsItArrivedInTurnForBothFamilies) {
  for (const bool ipv6 : {false, true, false}) {
    make(QpType::kUd, ipv6);
    std::fill(buffer.begin(), buffer.begin() + 128, uint8_t{0x60});
    post_recv(0, 128, 5);
    const PeerPacket p = packet(pattern(11));
    const auto frame = craft(p);
    datagram(p);
    const auto done = recv_completions();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].byte_len, 51u);
    if (ipv6) {
      EXPECT_EQ(bytes_at(0, 40), bytes_of(frame.data() + 14, 40));
    } else {
      EXPECT_EQ(bytes_at(0, 20), std::vector<uint8_t>(20));
      EXPECT_EQ(bytes_at(20, 20), bytes_of(frame.data() + 14, 20));
      EXPECT_TRUE(wire::checksum_good(wire::checksum_add(0, buffer.data() + 20, 20)));
    }
    EXPECT_EQ(bytes_at(40, 11), pattern(11));
    EXPECT_EQ(buffer[51], 0x60);
    EXPECT_EQ(done[0].network_header, ipv6 ? 3 : 2);
  }
}

TEST_F(UdTest, CompletionTellsWhoSentIt) {
  post_recv(0, 128, 5);
  PeerPacket p = packet(pattern(4));
  p.opcode = Opcode::kUdSendOnlyImmediate;
  p.immediate_be = 0xA1B2C3D4;
  p.solicited = true;
  env.now = Time(Duration(4711));
  datagram(p);
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  const Cqe& c = done[0];
  EXPECT_EQ(c.wr_id, 5u);
  EXPECT_EQ(c.qp, qp->user);
  EXPECT_EQ(c.status, WcStatus::kSuccess);
  EXPECT_EQ(c.opcode, WcOpcode::kRecv);
  EXPECT_EQ(c.src_qpn, kPeerQpn.value());
  EXPECT_EQ(c.qpn, kQpn.value());
  EXPECT_EQ(c.immediate_be, 0xA1B2C3D4u);
  EXPECT_EQ(c.wc_flags, kWcGrh | kWcWithImm | kWcWithSmac | kWcWithNetworkHdrType);
  EXPECT_EQ(bytes_of(c.smac, 6), (std::vector<uint8_t>{2, 0, 0, 0, 0, 2}));
  EXPECT_EQ(c.solicited, 1);
  EXPECT_EQ(c.arrival_ns, 4711);
  EXPECT_EQ(counters.received_bytes.value(), 4u);
}

TEST_F(UdTest, CompletionSaysWhenThePacketCameAndByWhoseClock) {
  const auto bytes = craft(packet(pattern(4)));
  wire::ParsedFrame frame{};
  ASSERT_EQ(wire::parse_roce(bytes, {}, frame), wire::Drop::kNone);
  for (const bool hardware : {true, false}) {
    post_recv(0, 128);
    receive_datagram(*qp, env, frame, {Time(Duration(815)), hardware});
    const auto done = recv_completions();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].arrival_ns, 815);
    EXPECT_EQ((done[0].wc_flags & kWcRxTimeHardware) != 0, hardware);
  }
}

TEST_F(UdTest, TagOfTheFrameIsInTheCompletion) {
  post_recv(0, 128);
  const auto bytes = craft(packet(pattern(4)));
  wire::ParsedFrame frame{};
  wire::ParseOptions options;
  options.vlan_id = 100;
  options.vlan_stripped = true;
  options.vlan_tci = 5 << 13 | 100;
  ASSERT_EQ(wire::parse_roce(bytes, options, frame), wire::Drop::kNone);
  receive_datagram(*qp, env, frame, {env.now});
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_NE(done[0].wc_flags & kWcWithVlan, 0);
  EXPECT_EQ(done[0].vlan_id, 100);
  EXPECT_EQ(done[0].sl, 5);
}

TEST_F(UdTest, ScattersOverSeveralElements) {
  post_recv({sge(0, 30), sge(100, 20), sge(200, 10)});
  const auto frame = craft(packet(pattern(16)));
  datagram(packet(pattern(16)));
  ASSERT_EQ(recv_completions().size(), 1u);
  EXPECT_EQ(bytes_at(20, 10), bytes_of(frame.data() + 14, 10));
  EXPECT_EQ(bytes_at(100, 10), bytes_of(frame.data() + 24, 10));
  EXPECT_EQ(bytes_at(110, 10), pattern(10));
  EXPECT_EQ(bytes_at(200, 6), pattern(6, 11));
  EXPECT_EQ(buffer[206], 0);
}

// KEY-02
TEST_F(UdTest, WrongQkeyIsDroppedAndCounted) {
  post_recv(0, 128);
  datagram(packet(pattern(4), kQkey + 1));
  datagram(packet(pattern(4), 0x80000000));
  EXPECT_TRUE(recv_completions().empty());
  EXPECT_EQ(dropped(wire::Drop::kQkey), 2u);
  EXPECT_EQ(qp->qkey_violations.value(), 2u);
  datagram(packet(pattern(4)));
  EXPECT_EQ(recv_completions().size(), 1u);
}

TEST_F(UdTest, QueuePairOneHasItsOwnQkey) {
  make(QpType::kGsi);
  qp->qpn = kGsiQpn;
  post_recv(0, 512);
  datagram(packet(pattern(256), kQkey));
  datagram(packet(pattern(256), wire::kGsiQkey));
  EXPECT_EQ(recv_completions().size(), 1u);
  SendRequest s = send({sge(0, 256)});
  s.remote_qpn = 1;
  post_send(s);
  const auto out = datagrams();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].frame.deth(), (wire::Deth{wire::kGsiQkey, kGsiQpn}));
  EXPECT_FALSE(out[0].frame.ack_request());
}

// case 68: what one member cannot take is its own loss, by name
TEST_F(UdTest, NoReceiveOrOneTooShortLosesThePacketAndKeepsTheReceive) {
  datagram(packet(pattern(4)));
  EXPECT_EQ(dropped(wire::Drop::kRecvQueueEmpty), 1u);
  EXPECT_EQ(qp->recv_queue_empty.value(), 1u);
  post_recv(0, 43, 1);
  datagram(packet(pattern(4)));
  EXPECT_EQ(dropped(wire::Drop::kRecvBufferShort), 1u);
  EXPECT_TRUE(recv_completions().empty());
  EXPECT_EQ(buffer[40], 0);
  datagram(packet(pattern(3)));
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(UdTest, EmptyDatagramNeedsRoomForItsHeaderOnly) {
  post_recv(0, 40);
  datagram(packet({}));
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].byte_len, 40u);
}

TEST_F(UdTest, ReceiveWithABadLocalKeyFailsAndEndsTheQueuePair) {
  // The last one begins inside the region and ends behind it, where no byte would be written.
  for (const auto& list :
       {std::vector{sge(0, 128, Key(0xBAD00))}, std::vector{sge(kBufferBytes - 100, 101)},
        std::vector{sge(0, 42), sge(0, 40, Key(0xBAD00))}}) {
    make(QpType::kUd);
    post_recv(list, 1);
    post_recv(0, 128, 2);
    datagram(packet(pattern(4)));
    const auto done = recv_completions();
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[0].status, WcStatus::kLocProtErr);
    EXPECT_EQ(done[1].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(qp->state, QpState::kErr);
  }
  EXPECT_EQ(dropped(wire::Drop::kRecvBufferInvalid), 3u);
}

// A group member and a second one take the same frame into separate memory.
TEST_F(UdTest, MulticastIsReceivedLikeAnyDatagram) {
  destination = Gid::from_ipv4(0xE0000105);
  PeerPacket p = packet(pattern(4));
  p.dest_qpn = kMulticastQpn;
  post_recv(0, 64);
  datagram(p);
  ASSERT_EQ(recv_completions().size(), 1u);
  EXPECT_EQ(load_be32(buffer.data() + 36), 0xE0000105);
}

TEST_F(UdTest, FullCompletionQueueEndsTheQueuePair) {
  make(QpType::kUd, false, PathMtu::k1024, {64, 64, 4, 4, 64}, 1);
  post_recv(0, 64);
  post_recv(0, 64);
  datagram(packet(pattern(4)));
  datagram(packet(pattern(4)));
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_EQ(recv_completions().size(), 1u);
  EXPECT_EQ(counters.rdma_recvs.value(), 1u);
}

// Case 91.
TEST_F(UdTest, SendPutsOutOnePacketAndCompletesAtOnce) {
  fill(10, 100);
  post_send(
      send({sge(10, 50), sge(60, 0, Key(0xBAD00)), sge(60, 50)}, kSendSignaled | kSendSolicited));
  EXPECT_TRUE(datagram_ready(*qp));
  const auto out = datagrams();
  ASSERT_EQ(out.size(), 1u);
  const wire::ParsedFrame& f = out[0].frame;
  EXPECT_EQ(f.opcode, Opcode::kUdSendOnly);
  EXPECT_EQ(f.dest_qpn, kPeerQpn);
  EXPECT_EQ(f.psn, kLocalPsn);
  EXPECT_EQ(f.deth(), (wire::Deth{0x01234567, kQpn}));
  EXPECT_TRUE(f.solicited());
  EXPECT_TRUE(f.mig_req());
  EXPECT_FALSE(f.ack_request());
  EXPECT_EQ(out[0].payload(), bytes_at(10, 100));
  const auto done = send_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 77u);
  EXPECT_EQ(done[0].status, WcStatus::kSuccess);
  EXPECT_EQ(done[0].opcode, WcOpcode::kSend);
  EXPECT_EQ(done[0].byte_len, 100u);
  EXPECT_EQ(done[0].arrival_ns, 0);
  EXPECT_EQ(qp->queues->send.consumer.load(), 1u);
  EXPECT_FALSE(datagram_ready(*qp));
  EXPECT_EQ(counters.sent_bytes.value(), 100u);
}

TEST_F(UdTest, OneElementOfEveryLengthAndInline) {
  fill(0, 4096);
  qp->req.next_psn = Psn(0xFFFFFF);
  for (const uint32_t length : {0u, 1u, 2u, 3u, 4u, 63u, 64u, 1023u, 4096u}) {
    post_send(send({sge(0, length)}));
    const auto out = datagrams();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].payload(), bytes_at(0, length));
  }
  EXPECT_EQ(qp->req.next_psn, Psn(8)) << "one PSN each, around the end";
  SendRequest s = send({}, kSendInline);
  s.inline_data = pattern(33, 7);
  s.opcode = WrOpcode::kSendWithImm;
  s.immediate_be = 0x55667788;
  post_send(s);
  const auto out = datagrams();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].opcode(), Opcode::kUdSendOnlyImmediate);
  EXPECT_EQ(out[0].payload(), pattern(33, 7));
  EXPECT_EQ(out[0].frame.imm().network_order, 0x55667788u);
}

TEST_F(UdTest, UnsignaledSendCompletesInSilenceUnlessAllAreSignaled) {
  post_send(send({sge(0, 4)}, 0));
  EXPECT_EQ(datagrams().size(), 1u);
  EXPECT_TRUE(send_completions().empty());
  qp->signal_all = true;
  post_send(send({sge(0, 4)}, 0));
  EXPECT_EQ(datagrams().size(), 1u);
  EXPECT_EQ(send_completions().size(), 1u);
}

// KEY-03
TEST_F(UdTest, HighBitOfTheRemoteQkeyAsksForTheOwnOne) {
  qp->attributes.qkey = 0x1234;
  SendRequest s = send({sge(0, 4)});
  s.remote_qkey = 0x80000000;
  post_send(s);
  const auto out = datagrams();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].frame.deth().qkey, 0x1234u);
}

TEST_F(UdTest, MulticastAddressVectorSendsToTheGroupsQpn) {
  AddressVector av = address_vector(local_gid, Gid::from_ipv4(0xE0000105), kMac, kPeerMac, 0xC777);
  av.route = Route::kBoth;
  SendRequest s = send({sge(0, 4)});
  s.av = &av;
  s.remote_qpn = 0x55;
  post_send(s);
  const auto out = datagrams();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].frame.dest_qpn, kMulticastQpn);
  EXPECT_EQ(out[0].frame.destination(), Gid::from_ipv4(0xE0000105));
  EXPECT_EQ(out[0].frame.udp_source_port(), 0xC777);
  EXPECT_EQ(out[0].route, Route::kBoth);
}

TEST_F(UdTest, BadLocalKeyFailsTheSendAndNothingLeaves) {
  post_send(send({sge(0, 4, Key(0xBAD00))}));
  post_send(send({sge(0, 4)}));
  EXPECT_TRUE(datagrams().empty());
  const auto done = send_completions();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].status, WcStatus::kLocProtErr);
  EXPECT_EQ(done[1].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(qp->state, QpState::kSqe);
}

TEST_F(UdTest, OpcodeThatUdHasNotFailsTheSend) {
  SendRequest s = send({sge(0, 4)});
  s.opcode = WrOpcode::kRdmaWrite;
  post_send(s);
  EXPECT_TRUE(datagrams().empty());
  const auto done = send_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, WcStatus::kLocQpOpErr);
}

TEST_F(UdTest, NothingIsSentButInRts) {
  post_send(send({sge(0, 4)}));
  for (const QpState state : {QpState::kRtr, QpState::kSqd, QpState::kSqe, QpState::kErr}) {
    put_state(state);
    EXPECT_FALSE(datagram_ready(*qp));
    EXPECT_TRUE(datagrams().empty());
  }
  put_state(QpState::kRts);
  EXPECT_EQ(datagrams().size(), 1u);
}

TEST_F(UdTest, WhatIsSentCanBeReceived) {
  fill(0, 64);
  AddressVector back = address_vector(peer_gid, local_gid, kPeerMac, kMac);
  SendRequest s = send({sge(0, 64)});
  s.av = &back;
  s.remote_qkey = kQkey;
  post_send(s);
  const auto out = datagrams();
  ASSERT_EQ(out.size(), 1u);
  post_recv(1024, 104);
  receive_datagram(*qp, env, out[0].frame, {env.now});
  ASSERT_EQ(recv_completions().size(), 1u);
  EXPECT_EQ(bytes_at(1064, 64), bytes_at(0, 64));
}

}  // namespace
}  // namespace uroce::transport
