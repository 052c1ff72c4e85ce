// SPDX-License-Identifier: BSD-3-Clause
// Tests of the requester: what leaves for which work request, and what holds it back.
#include "transport/requester.h"

#include "transport/completer.h"
#include "transport/qp_fixture.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

class Requester : public QpFixture {
 protected:
  void ack(Psn psn) { answer(psn, Aeth::kAckNoCredits); }
  void nak(Psn psn) { answer(psn, Aeth::nak(NakCode::kPsnSequence)); }
  void answer(Psn psn, uint8_t syndrome) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  void post(WrOpcode opcode, uint32_t length, uint8_t flags = kSendSignaled, uint64_t wr_id = 0) {
    post_send({.opcode = opcode,
               .sges = {sge(0, length)},
               .flags = flags,
               .wr_id = wr_id,
               .remote_address = 0x10000,
               .rkey = 0xABCD,
               .immediate_be = 0x04030201});
  }
  void time_out() {
    env.now = next_deadline(*qp);
    handle_deadline(*qp, env);
  }
  static std::vector<Opcode> opcodes(const std::vector<Sent>& packets) {
    std::vector<Opcode> out;
    for (const Sent& packet : packets) out.push_back(packet.opcode());
    return out;
  }
  static std::vector<uint32_t> psns(const std::vector<Sent>& packets) {
    std::vector<uint32_t> out;
    for (const Sent& packet : packets) out.push_back(packet.psn());
    return out;
  }
  Sent only(std::vector<Sent> packets) {
    EXPECT_EQ(packets.size(), 1u);
    return std::move(packets.at(0));
  }
};

TEST_F(Requester, AShortSendIsOnePacketWithAllFieldsAsAgreed) {
  fill(0, 5);
  post(WrOpcode::kSend, 5);
  const Sent packet = only(requests());
  EXPECT_EQ(packet.opcode(), Opcode::kRcSendOnly);
  EXPECT_EQ(packet.frame.psn, kLocalPsn);
  EXPECT_EQ(packet.frame.dest_qpn, kPeerQpn);
  EXPECT_EQ(packet.frame.pkey, 0xFFFF);
  EXPECT_EQ(packet.frame.pad, 3);
  EXPECT_TRUE(packet.frame.mig_req());  // case 91
  EXPECT_TRUE(packet.frame.ack_request());
  EXPECT_FALSE(packet.frame.solicited());
  EXPECT_EQ(packet.payload(), pattern(5));
  EXPECT_EQ(packet.route, Route::kWire);
  EXPECT_EQ(packet.frame.udp_source_port(), 0xC123);
  EXPECT_EQ(counters.sent_packets.value(), 1u);
  EXPECT_EQ(counters.sent_bytes.value(), 5u);
  EXPECT_EQ(counters.retransmitted_packets.value(), 0u);
}

// case 1: V1 of the base packets, to the bit
TEST_F(Requester, TheBasePacketIsReproducedToTheBit) {
  const std::vector<uint8_t> v1 = {0x45, 0x00, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x26,
                                   0xb7, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xc0, 0x00,
                                   0x12, 0xb7, 0x00, 0x20, 0x00, 0x00, 0x04, 0x40, 0xff, 0xff, 0x00,
                                   0x00, 0x00, 0x11, 0x80, 0x00, 0x00, 0x01, 0x75, 0x72, 0x6f, 0x63,
                                   0x65, 0x2d, 0x30, 0x31, 0xa8, 0x90, 0x10, 0x89};
  qp->attributes.av = address_vector(local_gid, peer_gid, kMac, kPeerMac, 0xC000);
  qp->attributes.dest_qpn = Qpn(0x11);
  qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(1);
  const std::string text = "uroce-01";
  post_send({.inline_data = {text.begin(), text.end()}, .flags = kSendInline});
  const Sent packet = only(requests());
  EXPECT_EQ(std::vector<uint8_t>(packet.bytes.begin() + 14, packet.bytes.end()), v1);
}

TEST_F(Requester, IpIdentificationRunsAndLocalRouteIsKept) {
  env.ip_id = 0xFFFF;
  qp->attributes.av.route = Route::kLocal;
  post(WrOpcode::kSend, 2048);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(load_be16(packets[0].bytes.data() + 14 + 4), 0xFFFF);
  EXPECT_EQ(load_be16(packets[1].bytes.data() + 14 + 4), 0);
  EXPECT_EQ(packets[1].route, Route::kLocal);
}

TEST_F(Requester, Ipv6PacketsAreWholeToo) {
  make(QpType::kRc, true);
  fill(0, 100);
  post(WrOpcode::kSend, 100);
  const Sent packet = only(requests());
  EXPECT_TRUE(packet.frame.ipv6);
  EXPECT_EQ(packet.payload(), pattern(100));
}

TEST_F(Requester, EveryFormOfMessageHasItsOpcodes) {
  struct Row {
    WrOpcode opcode;
    Opcode only, first, middle, last;
  };
  const Row rows[] = {
      {WrOpcode::kSend, Opcode::kRcSendOnly, Opcode::kRcSendFirst, Opcode::kRcSendMiddle,
       Opcode::kRcSendLast},
      {WrOpcode::kSendWithImm, Opcode::kRcSendOnlyImmediate, Opcode::kRcSendFirst,
       Opcode::kRcSendMiddle, Opcode::kRcSendLastImmediate},
      {WrOpcode::kRdmaWrite, Opcode::kRcWriteOnly, Opcode::kRcWriteFirst, Opcode::kRcWriteMiddle,
       Opcode::kRcWriteLast},
      {WrOpcode::kRdmaWriteWithImm, Opcode::kRcWriteOnlyImmediate, Opcode::kRcWriteFirst,
       Opcode::kRcWriteMiddle, Opcode::kRcWriteLastImmediate}};
  for (const Row& row : rows) {
    make(QpType::kRc);
    post(row.opcode, 1024);
    EXPECT_EQ(opcodes(requests()), std::vector<Opcode>{row.only});
    post(row.opcode, 1025);
    EXPECT_EQ(opcodes(requests()), (std::vector<Opcode>{row.first, row.last}));
    post(row.opcode, 4096);
    EXPECT_EQ(opcodes(requests()),
              (std::vector<Opcode>{row.first, row.middle, row.middle, row.last}));
  }
}

TEST_F(Requester, AWriteOnlyWithImmediateHasTheRethBeforeTheImmediate) {
  fill(0, 8);
  post(WrOpcode::kRdmaWriteWithImm, 8);
  const Sent packet = only(requests());
  EXPECT_EQ(packet.reth(), (wire::Reth{0x10000, Key(0xABCD), 8}));
  EXPECT_EQ(load_be64(packet.frame.bth + 12), 0x10000u);
  EXPECT_EQ(load_raw<uint32_t>(packet.frame.bth + 28), 0x04030201u);
  EXPECT_EQ(packet.payload(), pattern(8));
}

TEST_F(Requester, SolicitedMarksTheLastPacketOfWhatTakesAReceive) {  // case 41
  const auto marks = [this](WrOpcode opcode) {
    post(opcode, 3000, kSendSolicited);
    std::vector<bool> out;
    for (const Sent& packet : requests()) out.push_back(packet.frame.solicited());
    return out;
  };
  const std::vector<bool> last{false, false, true};
  EXPECT_EQ(marks(WrOpcode::kSend), last);
  EXPECT_EQ(marks(WrOpcode::kSendWithImm), last);
  EXPECT_EQ(marks(WrOpcode::kRdmaWriteWithImm), last);
  EXPECT_EQ(marks(WrOpcode::kRdmaWrite), (std::vector<bool>{false, false, false}));
}

// As captured: the first packet of 118 is PSN 0x100, and 0x141 asks. case 92
TEST_F(Requester, ALongMessageAsksOnThePacketAfterSixtyFiveWithout) {
  make(QpType::kRc, false, PathMtu::k256);
  post(WrOpcode::kRdmaWrite, 118 * 256);
  std::vector<uint32_t> asking;
  for (const Sent& packet : requests()) {
    if (packet.frame.ack_request()) asking.push_back(packet.psn());
  }
  EXPECT_EQ(asking, (std::vector<uint32_t>{0x141, 0x175}));
}

TEST_F(Requester, InlineDataComesFromTheWorkRequestItself) {
  post_send({.inline_data = pattern(33), .flags = kSendInline});
  fill(0, 64, 100);
  EXPECT_EQ(only(requests()).payload(), pattern(33));
}

TEST_F(Requester, InlineDataIsSegmentedLikeAnyOther) {
  make(QpType::kRc, false, PathMtu::k256, {8, 8, 4, 4, 600});
  const std::vector<uint8_t> data = pattern(600, 9);
  post_send({.inline_data = data, .flags = kSendInline});
  std::vector<uint8_t> sent;
  for (const Sent& packet : requests()) {
    const std::vector<uint8_t> payload = packet.payload();
    sent.insert(sent.end(), payload.begin(), payload.end());
  }
  EXPECT_EQ(sent, data);
  EXPECT_EQ(counters.sent_packets.value(), 3u);
}

// case 26
TEST_F(Requester, EveryMessageOfUpToOneMtuTakesExactlyOnePsn) {
  post(WrOpcode::kSend, 0);
  post(WrOpcode::kSend, 1);
  post(WrOpcode::kRdmaWrite, 0);
  post(WrOpcode::kRdmaRead, 0);
  post(WrOpcode::kSend, 1024);
  post(WrOpcode::kSend, 0);
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0x100, 0x101, 0x102, 0x103, 0x104, 0x105}));
}

// case 29
TEST_F(Requester, AZeroLengthWriteIsOnePacketOneAckOneCompletionInEveryForm) {
  const Key wrong(0x7777);
  const std::vector<SendRequest> forms = {
      {.opcode = WrOpcode::kRdmaWrite, .wr_id = 1, .remote_address = 5, .rkey = 9},
      {.opcode = WrOpcode::kRdmaWrite, .sges = {sge(0, 0, wrong)}, .wr_id = 2},
      {.opcode = WrOpcode::kRdmaWrite, .flags = kSendInline | kSendSignaled, .wr_id = 3}};
  Psn psn = kLocalPsn;
  for (const SendRequest& form : forms) {
    post_send(form);
    const Sent packet = only(requests());
    EXPECT_EQ(packet.opcode(), Opcode::kRcWriteOnly);
    EXPECT_EQ(packet.frame.payload_length, 0u);
    EXPECT_EQ(packet.reth().length_bytes, 0u);
    EXPECT_TRUE(requests().empty());
    ack(psn);
    ++psn;
    const std::vector<Cqe> cqes = send_completions();
    ASSERT_EQ(cqes.size(), 1u);
    EXPECT_EQ(cqes[0].wr_id, form.wr_id);
    EXPECT_EQ(cqes[0].byte_len, 0u);
    EXPECT_EQ(cqes[0].opcode, WcOpcode::kRdmaWrite);
  }
}

TEST_F(Requester, AReadTakesAsManyPsnsAsItsAnswerHasPackets) {
  post(WrOpcode::kRdmaRead, 3 * 1024 + 1);
  post(WrOpcode::kSend, 1);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(opcodes(packets), (std::vector<Opcode>{Opcode::kRcReadRequest, Opcode::kRcSendOnly}));
  EXPECT_EQ(packets[0].reth(), (wire::Reth{0x10000, Key(0xABCD), 3 * 1024 + 1}));
  EXPECT_TRUE(packets[0].frame.ack_request());
  EXPECT_EQ(packets[1].frame.psn, kLocalPsn + 4);
}

TEST_F(Requester, TheLargestReadIsAskedAlone) {
  make(QpType::kRc, false, PathMtu::k256);
  post(WrOpcode::kSend, 1);
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 1u << 31)}});
  post(WrOpcode::kSend, 1);
  EXPECT_EQ(opcodes(requests()), std::vector<Opcode>{Opcode::kRcSendOnly});
  ack(kLocalPsn);
  const Sent read = only(requests());
  EXPECT_EQ(read.reth().length_bytes, 1u << 31);
  EXPECT_EQ(qp->req.outstanding(), 1u << 23);
  ack(kLocalPsn);  // as old as can be: not outstanding
  EXPECT_EQ(dropped(wire::Drop::kStaleAcknowledge), 1u);
  time_out();
  const Sent again = only(requests());
  EXPECT_EQ(again.frame.psn, read.frame.psn);
}

// case 38
TEST_F(Requester, NoMoreReadsThanAgreedAreOutAtOnceAndWhatFollowsWaits) {
  qp->attributes.rd_atomic_max = 1;
  for (int i = 0; i < 3; ++i) post(WrOpcode::kRdmaRead, 1024);
  post(WrOpcode::kSend, 1);
  const std::vector<std::vector<uint32_t>> bursts = {{0x100}, {0x101}, {0x102, 0x103}};
  Psn psn = kLocalPsn;
  for (const std::vector<uint32_t>& burst : bursts) {
    EXPECT_EQ(psns(requests()), burst);
    EXPECT_FALSE(request_ready(*qp, env.now));
    response(
        {.opcode = Opcode::kRcReadResponseOnly, .psn = psn, .payload = std::vector<uint8_t>(1024)});
    EXPECT_EQ(send_completions().size(), 1u);
    ++psn;
  }
}

// case 38
TEST_F(Requester, AFencedRequestWaitsForTheReadsBeforeIt) {
  post(WrOpcode::kRdmaRead, 2048);
  post(WrOpcode::kSend, 1, kSendFence | kSendSignaled);
  post(WrOpcode::kSend, 1);
  EXPECT_EQ(opcodes(requests()), std::vector<Opcode>{Opcode::kRcReadRequest});
  response({.opcode = Opcode::kRcReadResponseFirst,
            .psn = kLocalPsn,
            .payload = std::vector<uint8_t>(1024)});
  EXPECT_TRUE(requests().empty());
  response({.opcode = Opcode::kRcReadResponseLast,
            .psn = kLocalPsn + 1,
            .payload = std::vector<uint8_t>(1024)});
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0x102, 0x103}));
}

// case 38
TEST_F(Requester, AFencedRequestBehindARefusedReadNeverLeaves) {
  post(WrOpcode::kRdmaRead, 2048, 0, 1);
  post(WrOpcode::kSend, 1, kSendFence, 2);
  requests();
  answer(kLocalPsn, Aeth::nak(NakCode::kRemoteAccess));
  EXPECT_TRUE(requests().empty());
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].status, WcStatus::kRemAccessErr);
  EXPECT_EQ(cqes[1].status, WcStatus::kWrFlushErr);
}

TEST_F(Requester, AFenceWithoutReadsHoldsNothingBack) {
  post(WrOpcode::kSend, 1);
  post(WrOpcode::kSend, 1, kSendFence);
  EXPECT_EQ(requests().size(), 2u);
}

TEST_F(Requester, TheWindowStopsSendingAndItsLastPacketAsks) {  // case 92
  make(QpType::kRc, false, PathMtu::k256);
  post(WrOpcode::kSend, 256);
  post(WrOpcode::kSend, 2 * kUnackedPsnsMax * 256);
  const std::vector<Sent> packets = requests();
  ASSERT_EQ(packets.size(), kUnackedPsnsMax);
  EXPECT_TRUE(packets.back().frame.ack_request());
  EXPECT_FALSE(packets[kUnackedPsnsMax - 2].frame.ack_request());
  EXPECT_FALSE(request_ready(*qp, env.now));
  ack(kLocalPsn + 9);
  EXPECT_EQ(requests().size(), 10u);
}

TEST_F(Requester, PsnsWrapAround) {
  qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(0xFFFFFE);
  post(WrOpcode::kSend, 4096, kSendSignaled, 1);
  post(WrOpcode::kSend, 1, kSendSignaled, 2);
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0xFFFFFE, 0xFFFFFF, 0, 1, 2}));
  nak(Psn(0));
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0, 1, 2}));
  ack(Psn(2));
  EXPECT_EQ(send_completions().size(), 2u);
}

// --- retries -----------------------------------------------------------------------------------

// case 17 (a)
TEST_F(Requester, ANakInsideAWriteGoesOnInTheMiddleAndNothingBeforeItIsSentAgain) {
  fill(0, 4096);
  post(WrOpcode::kRdmaWrite, 4096);
  requests();
  nak(kLocalPsn + 2);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::vector<Sent> again = requests();
    ASSERT_EQ(opcodes(again), (std::vector<Opcode>{Opcode::kRcWriteMiddle, Opcode::kRcWriteLast}));
    EXPECT_EQ(psns(again), (std::vector<uint32_t>{0x102, 0x103}));
    EXPECT_EQ(again[0].payload(), bytes_at(2048, 1024));
    EXPECT_EQ(again[1].payload(), bytes_at(3072, 1024));
    time_out();
  }
  EXPECT_EQ(counters.retransmitted_packets.value(), 4u);
}

// case 17 (b)
TEST_F(Requester, AWriteSentAgainFromItsStartHasItsAddressEveryTime) {
  post(WrOpcode::kRdmaWrite, 4096);
  requests();
  nak(kLocalPsn);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::vector<Sent> again = requests();
    ASSERT_EQ(again.size(), 4u);
    EXPECT_EQ(again[0].reth(), (wire::Reth{0x10000, Key(0xABCD), 4096}));
    EXPECT_EQ(again[1].opcode(), Opcode::kRcWriteMiddle);
    time_out();
  }
}

// case 17 (c)
TEST_F(Requester, AnAckInsideAMessageIsKeptOverATimeout) {
  post(WrOpcode::kRdmaWrite, 4096);
  requests();
  ack(kLocalPsn + 1);
  time_out();
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0x102, 0x103}));
}

// case 13: the requester that retries a READ while a WRITE behind it is half sent
TEST_F(Requester, ATimedOutReadIsAskedAgainAndTheWriteBehindItStartsAgain) {
  post(WrOpcode::kRdmaRead, 3072);
  post(WrOpcode::kRdmaWrite, 3072);
  EXPECT_EQ(opcodes(requests(2)),
            (std::vector<Opcode>{Opcode::kRcReadRequest, Opcode::kRcWriteFirst}));
  time_out();
  const std::vector<Sent> again = requests();
  ASSERT_EQ(opcodes(again), (std::vector<Opcode>{Opcode::kRcReadRequest, Opcode::kRcWriteFirst,
                                                 Opcode::kRcWriteMiddle, Opcode::kRcWriteLast}));
  EXPECT_EQ(psns(again), (std::vector<uint32_t>{0x100, 0x103, 0x104, 0x105}));
  EXPECT_EQ(again[0].reth(), (wire::Reth{0x10000, Key(0xABCD), 3072}));
  EXPECT_EQ(counters.retransmitted_packets.value(), 2u);  // Middle and Last are new
  EXPECT_EQ(qp->req.reads_outstanding, 1u);
}

TEST_F(Requester, AnAckThatJumpsMovesTheCursorForward) {
  for (uint64_t id = 0; id < 6; ++id) post(WrOpcode::kSend, 1, kSendSignaled, id);
  requests();
  time_out();
  EXPECT_EQ(psns(requests(1)), std::vector<uint32_t>{0x100});
  ack(kLocalPsn + 4);
  EXPECT_EQ(send_completions().size(), 5u);
  EXPECT_EQ(psns(requests()), std::vector<uint32_t>{0x105});
}

// --- local errors ------------------------------------------------------------------------------

TEST_F(Requester, ABadLkeyFailsWithoutAPacket) {
  post_send({.sges = {sge(0, 8, Key(0x7777))}, .flags = 0, .wr_id = 1});
  post(WrOpcode::kSend, 8, 0, 2);
  EXPECT_TRUE(requests().empty());
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].status, WcStatus::kLocProtErr);
  EXPECT_EQ(cqes[1].status, WcStatus::kWrFlushErr);
  EXPECT_EQ(counters.sent_packets.value(), 0u);
  EXPECT_EQ(env.ip_id, 0);
}

// case 44
TEST_F(Requester, GoodRequestsAheadOfAFaultyOneSucceedFirst) {
  post(WrOpcode::kRdmaWrite, 8, kSendSignaled, 1);
  post(WrOpcode::kSend, 8, kSendSignaled, 2);
  post_send({.opcode = WrOpcode::kRdmaWrite, .sges = {sge(0, 8, Key(0x7777))}, .wr_id = 3});
  post(WrOpcode::kSend, 8, kSendSignaled, 4);
  EXPECT_EQ(requests().size(), 2u);
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_FALSE(request_ready(*qp, env.now));
  time_out();  // a retry of the good ones is still possible
  EXPECT_EQ(requests().size(), 2u);
  ack(kLocalPsn);
  ack(kLocalPsn + 1);
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 4u);
  const WcStatus statuses[] = {WcStatus::kSuccess, WcStatus::kSuccess, WcStatus::kLocProtErr,
                               WcStatus::kWrFlushErr};
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cqes[i].wr_id, i + 1);
    EXPECT_EQ(cqes[i].status, statuses[i]);
  }
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_TRUE(requests().empty());
}

TEST_F(Requester, AListThatGoesBadInTheMiddleFailsThere) {
  post_send({.sges = {sge(0, 1024), sge(0, 1024, Key(0x7777))}, .wr_id = 1});
  EXPECT_EQ(opcodes(requests()), std::vector<Opcode>{Opcode::kRcSendFirst});
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].status, WcStatus::kLocProtErr);
}

TEST_F(Requester, WhatCannotBeAskedForIsAnErrorAndNotAWaitForEver) {
  qp->attributes.rd_atomic_max = 0;
  post(WrOpcode::kRdmaRead, 8);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(send_completions().at(0).status, WcStatus::kLocQpOpErr);
  make(QpType::kRc);
  post(static_cast<WrOpcode>(10), 8);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(send_completions().at(0).status, WcStatus::kLocQpOpErr);
}

// --- states ------------------------------------------------------------------------------------

TEST_F(Requester, OnlyReadyToSendSends) {
  post(WrOpcode::kSend, 1);
  for (const QpState state :
       {QpState::kReset, QpState::kInit, QpState::kRtr, QpState::kSqe, QpState::kErr}) {
    put_state(state);
    EXPECT_FALSE(request_ready(*qp, env.now));
    EXPECT_TRUE(requests().empty());
  }
  put_state(QpState::kRts);
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(Requester, DrainingFinishesTheMessageInProgressAndRaisesOneEvent) {
  post(WrOpcode::kSend, 3000);
  post(WrOpcode::kSend, 1);
  EXPECT_EQ(requests(1).size(), 1u);
  put_state(QpState::kSqd);
  qp->attributes.sq_draining = true;
  qp->attributes.sqd_async_notify = true;
  raise_if_drained(*qp, env);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0x101, 0x102}));
  nak(kLocalPsn + 1);  // a retry is part of draining
  EXPECT_EQ(psns(requests()), (std::vector<uint32_t>{0x101, 0x102}));
  EXPECT_TRUE(events().empty());
  ack(kLocalPsn + 2);
  EXPECT_EQ(events(), std::vector<EventType>{EventType::kSqDrained});
  EXPECT_FALSE(qp->attributes.sq_draining);
  raise_if_drained(*qp, env);
  EXPECT_TRUE(events().empty());
  EXPECT_TRUE(requests().empty());
  put_state(QpState::kRts);
  EXPECT_EQ(psns(requests()), std::vector<uint32_t>{0x103});
}

TEST_F(Requester, DrainingWithNothingUnderWayIsDoneAtOnceAndSilentUnlessAsked) {
  put_state(QpState::kSqd);
  qp->attributes.sq_draining = true;
  raise_if_drained(*qp, env);
  EXPECT_FALSE(qp->attributes.sq_draining);
  EXPECT_TRUE(events().empty());
}

}  // namespace
}  // namespace uroce::transport
