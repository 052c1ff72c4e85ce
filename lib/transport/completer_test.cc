// SPDX-License-Identifier: BSD-3-Clause
// Tests of the completer: acknowledgements, NAKs, READ responses, and the completions they bring.
#include "transport/completer.h"

#include "transport/qp_fixture.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::Drop;
using wire::NakCode;
using wire::Opcode;

constexpr uint8_t kSequenceNak = Aeth::nak(NakCode::kPsnSequence);

class Completer : public QpFixture {
 protected:
  Completer() { env.tail_probe = false; }
  void ack(Psn psn, uint8_t syndrome = Aeth::kAckNoCredits) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  void nak(Psn psn) { ack(psn, kSequenceNak); }
  void post(WrOpcode opcode, uint32_t length, uint64_t wr_id, uint8_t flags = kSendSignaled) {
    post_send({.opcode = opcode,
               .sges = {sge(0, length)},
               .flags = flags,
               .wr_id = wr_id,
               .remote_address = 0x20000,
               .rkey = 0xABCD});
  }
  void read_response(Opcode opcode, Psn psn, std::vector<uint8_t> payload,
                     uint8_t syndrome = Aeth::kAckNoCredits) {
    response({.opcode = opcode, .psn = psn, .payload = std::move(payload), .aeth = {syndrome, 0}});
  }
  std::vector<uint64_t> completed() {
    std::vector<uint64_t> ids;
    for (const Cqe& cqe : send_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      ids.push_back(cqe.wr_id);
    }
    return ids;
  }
  WcStatus first_status() {
    const std::vector<Cqe> cqes = send_completions();
    return cqes.empty() ? WcStatus::kSuccess : cqes[0].status;
  }
  std::vector<uint32_t> sent_psns() {
    std::vector<uint32_t> out;
    for (const Sent& packet : requests()) out.push_back(packet.psn());
    return out;
  }
  void time_out() {
    env.now = next_deadline(*qp);
    handle_deadline(*qp, env);
  }
  using Ids = std::vector<uint64_t>;
  using Psns = std::vector<uint32_t>;
};

TEST_F(Completer, OneAckCompletesEverythingBeforeIt) {
  post(WrOpcode::kSend, 5, 1);
  post(WrOpcode::kRdmaWrite, 3000, 2);
  post(WrOpcode::kSendWithImm, 0, 3);
  post(WrOpcode::kSend, 1, 4);
  requests();
  ack(kLocalPsn + 4);
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 3u);
  EXPECT_EQ(cqes[0].wr_id, 1u);
  EXPECT_EQ(cqes[0].byte_len, 5u);
  EXPECT_EQ(cqes[0].opcode, WcOpcode::kSend);
  EXPECT_EQ(cqes[0].solicited, 0);
  EXPECT_EQ(cqes[1].byte_len, 3000u);
  EXPECT_EQ(cqes[1].opcode, WcOpcode::kRdmaWrite);
  EXPECT_EQ(cqes[2].opcode, WcOpcode::kSend);
  EXPECT_EQ(qp->queues->send.consumer.load(), 3u);
  EXPECT_EQ(counters.rdma_sends.value(), 2u);
}

// case 40
TEST_F(Completer, UnsignalledWorkCompletesInSilenceUnlessTheQueuePairSignalsAll) {
  post(WrOpcode::kSend, 5, 1, 0);
  requests();
  ack(kLocalPsn);
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(qp->queues->send.consumer.load(), 1u);
  qp->signal_all = true;
  post(WrOpcode::kSend, 5, 2, 0);
  requests();
  ack(kLocalPsn + 1);
  EXPECT_EQ(completed(), Ids{2});
}

TEST_F(Completer, CreditsAreNeverAReasonToWait) {
  for (uint8_t credits = 0; credits < 32; ++credits) {
    post(WrOpcode::kSend, 1, credits);
    EXPECT_EQ(requests().size(), 1u);
    ack(kLocalPsn + credits, credits);
    EXPECT_EQ(completed(), Ids{credits});
  }
}

TEST_F(Completer, AnAckInsideAMessageCompletesNothingYet) {
  post(WrOpcode::kSend, 4000, 1);
  requests();
  ack(kLocalPsn + 1);
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(qp->req.unacked_psn, kLocalPsn + 2);
}

// As rxe answers a duplicate on a fresh queue pair: ACK 0xFFFFFF.
TEST_F(Completer, AnAckOfWhatIsNotOutstandingSaysNothing) {
  qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(0);
  ack(Psn(0));  // nothing sent yet
  post(WrOpcode::kSend, 1, 1);
  requests();
  for (const uint32_t psn : {0xFFFFFFu, 1u, 0x7FFFFFu, 0x800000u}) {
    for (const uint8_t syndrome : {Aeth::kAckNoCredits, kSequenceNak, Aeth::rnr_nak(1),
                                   Aeth::nak(NakCode::kRemoteAccess), uint8_t{0x55}}) {
      ack(Psn(psn), syndrome);
    }
  }
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(dropped(Drop::kStaleAcknowledge), 21u);
  ack(Psn(0));
  EXPECT_EQ(completed(), Ids{1});
}

TEST_F(Completer, RefusalsFailTheNamedRequestAfterCompletingThoseBeforeIt) {
  struct Row {
    uint8_t syndrome;
    WcStatus status;
  };
  for (const Row row : {Row{0x61, WcStatus::kRemInvReqErr},
                        {0x62, WcStatus::kRemAccessErr},
                        {0x63, WcStatus::kRemOpErr},
                        {0x64, WcStatus::kRemOpErr},
                        {0x7F, WcStatus::kRemOpErr},
                        {0x40, WcStatus::kRemOpErr},
                        {0x5F, WcStatus::kRemOpErr},
                        {0x9F, WcStatus::kRemOpErr}}) {
    make(QpType::kRc);
    post(WrOpcode::kSend, 1, 1);
    post(WrOpcode::kRdmaWrite, 3000, 2);
    post(WrOpcode::kSend, 1, 3);
    requests();
    ack(kLocalPsn + 2, row.syndrome);
    const std::vector<Cqe> cqes = send_completions();
    ASSERT_EQ(cqes.size(), 3u) << int{row.syndrome};
    EXPECT_EQ(cqes[0].status, WcStatus::kSuccess);
    EXPECT_EQ(cqes[1].status, row.status) << int{row.syndrome};
    EXPECT_EQ(cqes[1].wr_id, 2u);
    EXPECT_EQ(cqes[1].byte_len, 0u);
    EXPECT_EQ(cqes[2].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(qp->state, QpState::kErr);
  }
  EXPECT_EQ(counters.req_remote_invalid_request.value(), 1u);
  EXPECT_EQ(counters.req_remote_access_errors.value(), 1u);
  EXPECT_EQ(counters.req_remote_operational_errors.value(), 6u);
}

// --- NAK 0x60 ----------------------------------------------------------------------------------

TEST_F(Completer, ASequenceNakConfirmsWhatIsBeforeItAndEverythingElseGoesAgain) {
  for (uint64_t id = 0; id < 5; ++id) post(WrOpcode::kSend, 1, id);
  requests();
  nak(kLocalPsn + 2);
  EXPECT_EQ(completed(), (Ids{0, 1}));
  EXPECT_EQ(sent_psns(), (Psns{0x102, 0x103, 0x104}));
  EXPECT_EQ(counters.packet_seq_err.value(), 1u);
  EXPECT_EQ(qp->req.retry_left, 2);
}

TEST_F(Completer, WhileARetryRunsOnlyALaterNakCountsAndItIsFree) {
  for (uint64_t id = 0; id < 8; ++id) post(WrOpcode::kSend, 1, id);
  requests();
  nak(kLocalPsn + 2);
  EXPECT_EQ(requests().size(), 6u);
  EXPECT_EQ(qp->req.retry_left, 2);
  nak(kLocalPsn + 2);  // the same once more
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(qp->req.retry_left, 2);
  EXPECT_EQ(counters.packet_seq_err.value(), 1u);
  nak(kLocalPsn + 5);  // later: progress, so the count is full again and stays so
  EXPECT_EQ(sent_psns(), (Psns{0x105, 0x106, 0x107}));
  EXPECT_EQ(qp->req.retry_left, 3);
}

TEST_F(Completer, ANakForWhatTheTimeoutSentAgainIsPassedOver) {
  for (uint64_t id = 0; id < 3; ++id) post(WrOpcode::kSend, 1, id);
  requests();
  time_out();
  EXPECT_EQ(requests().size(), 3u);
  EXPECT_EQ(qp->req.retry_left, 2);
  nak(kLocalPsn);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(qp->req.retry_left, 2);
  time_out();
  EXPECT_EQ(requests().size(), 3u);
  EXPECT_EQ(qp->req.retry_left, 1);
}

TEST_F(Completer, NaksUseUpTheRetriesToo) {
  qp->attributes.retry_count = qp->req.retry_left = 0;
  post(WrOpcode::kSend, 1, 1);
  post(WrOpcode::kSend, 1, 2);
  requests();
  nak(kLocalPsn);
  EXPECT_EQ(first_status(), WcStatus::kRetryExcErr);
  EXPECT_EQ(qp->state, QpState::kErr);
}

// --- READ --------------------------------------------------------------------------------------

TEST_F(Completer, AReadArrivesInItsBuffersAndCompletesWithTheLastPacket) {
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(10, 1000), sge(3000, 1100)}, .wr_id = 1});
  requests();
  const std::vector<uint8_t> data = pattern(2100);
  read_response(Opcode::kRcReadResponseFirst, kLocalPsn, {data.begin(), data.begin() + 1024});
  read_response(Opcode::kRcReadResponseMiddle, kLocalPsn + 1,
                {data.begin() + 1024, data.begin() + 2048});
  EXPECT_TRUE(send_completions().empty());
  read_response(Opcode::kRcReadResponseLast, kLocalPsn + 2, {data.begin() + 2048, data.end()});
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 1u);
  EXPECT_EQ(cqes[0].opcode, WcOpcode::kRdmaRead);
  EXPECT_EQ(cqes[0].byte_len, 2100u);
  EXPECT_TRUE(bytes_at(10, 1000) == std::vector<uint8_t>(data.begin(), data.begin() + 1000));
  EXPECT_TRUE(bytes_at(3000, 1100) == std::vector<uint8_t>(data.begin() + 1000, data.end()));
  for (const size_t guard : {size_t{9}, size_t{1010}, size_t{2999}, size_t{4100}}) {
    EXPECT_EQ(buffer[guard], 0) << guard;
  }
  EXPECT_EQ(counters.received_bytes.value(), 2100u);
  EXPECT_EQ(next_deadline(*qp), kNever);
}

// case 28
TEST_F(Completer, AZeroLengthReadLooksAtNoKeyAndTakesOnePsn) {
  const std::vector<std::vector<memory::Sge>> lists = {{}, {sge(0, 0, Key(0x7777))}};
  Psn psn = kLocalPsn;
  for (const auto& list : lists) {
    post_send({.opcode = WrOpcode::kRdmaRead,
               .sges = list,
               .wr_id = 1,
               .remote_address = ~uint64_t{0},
               .rkey = 0xDEADBEEF});
    const std::vector<Sent> packets = requests();
    ASSERT_EQ(packets.size(), 1u);
    EXPECT_EQ(packets[0].reth(), (wire::Reth{~uint64_t{0}, Key(0xDEADBEEF), 0}));
    read_response(Opcode::kRcReadResponseOnly, psn, {});
    const std::vector<Cqe> cqes = send_completions();
    ASSERT_EQ(cqes.size(), 1u);
    EXPECT_EQ(cqes[0].status, WcStatus::kSuccess);
    EXPECT_EQ(cqes[0].byte_len, 0u);
    ++psn;
  }
}

TEST_F(Completer, AReadResponseAcknowledgesTheSendsBeforeIt) {
  post(WrOpcode::kSend, 1, 1);
  post(WrOpcode::kRdmaWrite, 2000, 2);
  post(WrOpcode::kRdmaRead, 8, 3);
  requests();
  read_response(Opcode::kRcReadResponseOnly, kLocalPsn + 3, pattern(8));
  EXPECT_EQ(completed(), (Ids{1, 2, 3}));
}

class HalfRead : public Completer {
 protected:
  // case 16: READ 4096 B at 41-44, WRITE 45; 41 and 42 have arrived, 43 is lost.
  HalfRead() {
    qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(41);
    post(WrOpcode::kRdmaRead, 4096, 1);
    post(WrOpcode::kRdmaWrite, 8, 2);
    requests();
    read_response(Opcode::kRcReadResponseFirst, Psn(41), part(0));
    read_response(Opcode::kRcReadResponseMiddle, Psn(42), part(1));
  }
  static std::vector<uint8_t> part(uint8_t n) { return pattern(1024, static_cast<uint8_t>(n * 3)); }
  void expect_asked_for_the_rest() {
    const std::vector<Sent> again = requests();
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(again[0].opcode(), Opcode::kRcReadRequest);
    EXPECT_EQ(again[0].psn(), 43u);
    EXPECT_EQ(again[0].reth(), (wire::Reth{0x20000 + 2048, Key(0xABCD), 2048}));
    EXPECT_EQ(again[1].psn(), 45u);
  }
  void expect_done() {
    ack(Psn(45));
    EXPECT_EQ(completed(), (Ids{1, 2}));
    for (uint8_t n = 0; n < 4; ++n) {
      EXPECT_TRUE(bytes_at(n * size_t{1024}, 1024) == part(n)) << int{n};
    }
  }
};

// case 16
TEST_F(HalfRead, TheRestIsAskedForAfterATimeoutAndTakenInTheStandardsForm) {
  time_out();
  expect_asked_for_the_rest();
  read_response(Opcode::kRcReadResponseFirst, Psn(43), part(2));
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  expect_done();
}

// case 16
TEST_F(HalfRead, TheRestIsAskedForAfterATimeoutAndTakenInTheFormOfRxe) {
  time_out();
  expect_asked_for_the_rest();
  read_response(Opcode::kRcReadResponseMiddle, Psn(43), part(2));
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  expect_done();
}

// case 16
TEST_F(HalfRead, WithOnePacketLeftOnlyAndLastAreBothTaken) {
  for (const Opcode opcode : {Opcode::kRcReadResponseOnly, Opcode::kRcReadResponseLast}) {
    make(QpType::kRc);
    post(WrOpcode::kRdmaRead, 1500, 1);
    requests();
    read_response(Opcode::kRcReadResponseFirst, kLocalPsn, part(0));
    time_out();
    const std::vector<Sent> again = requests();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].reth().length_bytes, 476u);
    read_response(opcode, kLocalPsn + 1, pattern(476));
    EXPECT_EQ(completed(), Ids{1});
  }
}

// case 16, variant: an ACK of the WRITE behind
TEST_F(HalfRead, AnAckBehindAnUnfinishedReadIsAnImpliedNak) {
  ack(Psn(45));
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(counters.implied_nak_seq_err.value(), 1u);
  EXPECT_EQ(qp->req.retry_left, 2);
  expect_asked_for_the_rest();
  ack(Psn(45));  // once more while the retry runs: nothing, and no cost
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(qp->req.retry_left, 2);
  EXPECT_EQ(dropped(Drop::kOutOfOrder), 1u);
  read_response(Opcode::kRcReadResponseFirst, Psn(43), part(2));
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  expect_done();
}

TEST_F(HalfRead, AResponseThatCameTooEarlyIsAnImpliedNakAndItsDataIsNotTaken) {
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(buffer[3072], 0);
  expect_asked_for_the_rest();
}

TEST_F(HalfRead, ANakBehindAnUnfinishedReadGoesBackToTheRead) {
  nak(Psn(45));
  EXPECT_TRUE(send_completions().empty());
  expect_asked_for_the_rest();
  nak(Psn(45));
  EXPECT_TRUE(requests().empty());
}

TEST_F(HalfRead, ARefusalBehindAnUnfinishedReadDoesNotFailTheRead) {
  ack(Psn(45), Aeth::nak(NakCode::kRemoteAccess));
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(qp->state, QpState::kRts);
  expect_asked_for_the_rest();
}

TEST_F(HalfRead, ARefusalAnywhereInTheReadFailsIt) {
  ack(Psn(44), Aeth::nak(NakCode::kRemoteAccess));
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].status, WcStatus::kRemAccessErr);
  EXPECT_EQ(cqes[1].status, WcStatus::kWrFlushErr);
}

TEST_F(HalfRead, AnAckOfTheReadsOwnPsnsCompletesNothing) {
  ack(Psn(43));
  ack(Psn(44));
  EXPECT_TRUE(send_completions().empty());
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(dropped(Drop::kStaleAcknowledge), 2u);
}

TEST_F(HalfRead, DuplicatesAndGhostsAreDropped) {
  read_response(Opcode::kRcReadResponseFirst, Psn(41), part(9));
  read_response(Opcode::kRcReadResponseMiddle, Psn(42), part(9));
  read_response(Opcode::kRcReadResponseOnly, Psn(99), part(9));
  EXPECT_EQ(dropped(Drop::kUnexpectedResponse), 3u);
  EXPECT_TRUE(bytes_at(0, 1024) == part(0));
  EXPECT_TRUE(requests().empty());
  read_response(Opcode::kRcReadResponseMiddle, Psn(43), part(2));
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  expect_done();
}

TEST_F(HalfRead, AnsweredTwiceFromDifferentPointsItStillEndsOnce) {
  time_out();
  expect_asked_for_the_rest();
  read_response(Opcode::kRcReadResponseMiddle, Psn(43), part(2));  // late, of the first answer
  read_response(Opcode::kRcReadResponseFirst, Psn(43), part(2));   // of the second
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  read_response(Opcode::kRcReadResponseLast, Psn(44), part(3));
  expect_done();
}

TEST_F(HalfRead, TheCursorIsNeverBehindWhatHasArrived) {
  time_out();
  read_response(Opcode::kRcReadResponseMiddle, Psn(43), part(2));
  const std::vector<Sent> again = requests();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].psn(), 44u);
  EXPECT_EQ(again[0].reth(), (wire::Reth{0x20000 + 3072, Key(0xABCD), 1024}));
}

TEST_F(Completer, ResponsesThatDoNotFitAreBadResponses) {
  struct Row {
    const char* why;
    Opcode opcode;
    uint32_t taken;  // packets of the READ that arrived before
    uint32_t bytes;
    uint8_t syndrome;
  };
  const uint8_t good = Aeth::kAckNoCredits;
  const Row rows[] = {
      {"short FIRST", Opcode::kRcReadResponseFirst, 0, 1020, good},
      {"long FIRST", Opcode::kRcReadResponseFirst, 0, 1028, good},
      {"MIDDLE at the start", Opcode::kRcReadResponseMiddle, 0, 1024, good},
      {"ONLY of several", Opcode::kRcReadResponseOnly, 0, 1024, good},
      {"LAST too early", Opcode::kRcReadResponseLast, 1, 1024, good},
      {"FIRST in the middle, not asked for", Opcode::kRcReadResponseFirst, 1, 1024, good},
      {"ONLY at the end, not asked for", Opcode::kRcReadResponseOnly, 2, 52, good},
      {"MIDDLE at the end", Opcode::kRcReadResponseMiddle, 2, 52, good},
      {"short LAST", Opcode::kRcReadResponseLast, 2, 48, good},
      {"long LAST", Opcode::kRcReadResponseLast, 2, 1024, good},
      {"FIRST that is a NAK", Opcode::kRcReadResponseFirst, 0, 1024, 0x62},
      {"LAST that is an RNR NAK", Opcode::kRcReadResponseLast, 2, 52, 0x21},
      {"an answer to an atomic", Opcode::kRcAtomicAcknowledge, 0, 0, good},
  };
  for (const Row& row : rows) {
    make(QpType::kRc);
    post(WrOpcode::kRdmaRead, 2100, 1);
    requests();
    if (row.taken > 0) {
      read_response(Opcode::kRcReadResponseFirst, kLocalPsn, pattern(1024));
    }
    if (row.taken > 1) {
      read_response(Opcode::kRcReadResponseMiddle, kLocalPsn + 1, pattern(1024));
    }
    read_response(row.opcode, kLocalPsn + row.taken, pattern(row.bytes), row.syndrome);
    EXPECT_EQ(first_status(), WcStatus::kBadRespErr) << row.why;
    EXPECT_EQ(qp->state, QpState::kErr) << row.why;
  }
}

TEST_F(Completer, AReadResponseToASendIsFatal) {
  post(WrOpcode::kSend, 1, 1);
  post(WrOpcode::kSend, 1, 2);
  requests();
  read_response(Opcode::kRcReadResponseOnly, kLocalPsn + 1, pattern(1));
  const std::vector<Cqe> cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].status, WcStatus::kSuccess);
  EXPECT_EQ(cqes[1].status, WcStatus::kFatalErr);
}

TEST_F(Completer, AReadIntoMemoryThatMayNotBeWrittenFails) {
  const Key read_only(0x0201);
  keys.publish(read_only, {buffer.data(), address(0), buffer.size(), kPd, memory::kLocalRead});
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 8, read_only)}, .wr_id = 1});
  requests();
  read_response(Opcode::kRcReadResponseOnly, kLocalPsn, pattern(8));
  EXPECT_EQ(first_status(), WcStatus::kLocProtErr);
  EXPECT_EQ(buffer[0], 0);
}

TEST_F(Completer, AnAckWithAPayloadIsDropped) {
  post(WrOpcode::kSend, 1, 1);
  requests();
  response({.opcode = Opcode::kRcAcknowledge, .psn = kLocalPsn, .payload = pattern(4)});
  EXPECT_TRUE(send_completions().empty());
  EXPECT_EQ(dropped(Drop::kPayloadLength), 1u);
}

}  // namespace
}  // namespace uroce::transport
