// SPDX-License-Identifier: BSD-3-Clause
// Atomics, ATOMIC WRITE and FLUSH at the requester: their packets, the limits that hold them, loss,
// and what completes them.
#include "transport/qp_fixture.h"
#include "transport/request_packet.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::Opcode;

constexpr uint64_t kRemote = 0x7000'0000'1000;
constexpr uint32_t kRkey = 0xABCD12;

class AtomicCompletion : public QpFixture {
 protected:
  void post(WrOpcode opcode, uint64_t wr_id, uint64_t compare_add = 0, uint64_t swap = 0,
            uint8_t flags = kSendSignaled) {
    post_send({.opcode = opcode,
               .sges = {sge(8 * wr_id, 8)},
               .flags = flags,
               .wr_id = wr_id,
               .remote_address = kRemote,
               .rkey = kRkey,
               .compare_add = compare_add,
               .swap = swap});
  }
  void post_flush(uint64_t wr_id, uint32_t length, wire::Feth feth) {
    post_send({.opcode = WrOpcode::kFlush,
               .wr_id = wr_id,
               .remote_address = kRemote,
               .rkey = kRkey,
               .length = length,
               .remote_qkey = uint32_t{feth.selectivity} << 4 | feth.placement});
  }
  void post_send_of(uint32_t length, uint64_t wr_id, uint8_t flags = kSendSignaled) {
    post_send({.sges = {sge(0, length)}, .flags = flags, .wr_id = wr_id});
  }
  void atomic_ack(Psn psn, uint64_t original, uint8_t syndrome = Aeth::kAckNoCredits) {
    response({.opcode = Opcode::kRcAtomicAcknowledge,
              .psn = psn,
              .aeth = {syndrome, 0},
              .atomic_ack = {original}});
  }
  void done(Psn psn, Opcode opcode = Opcode::kRcReadResponseOnly, size_t bytes = 0) {
    response({.opcode = opcode,
              .psn = psn,
              .payload = pattern(bytes),
              .aeth = {Aeth::kAckNoCredits, 0}});
  }
  void ack(Psn psn, uint8_t syndrome = Aeth::kAckNoCredits) {
    response({.opcode = Opcode::kRcAcknowledge, .psn = psn, .aeth = {syndrome, 0}});
  }
  uint64_t word(size_t index) const { return load_raw<uint64_t>(&buffer[8 * index]); }
  WcStatus first_status() {
    const std::vector<Cqe> cqes = send_completions();
    return cqes.empty() ? WcStatus::kSuccess : cqes[0].status;
  }
};

TEST_F(AtomicCompletion, OperandsGoOutAsNumbers) {
  post(WrOpcode::kAtomicFetchAdd, 1, 0x0102030405060708);
  post(WrOpcode::kAtomicCmpSwap, 2, 0x1111, 0x2222);
  const auto out = requests();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcFetchAdd);
  EXPECT_EQ(out[0].frame.atomic(), (wire::AtomicEth{kRemote, Key(kRkey), 0x0102030405060708, 0}));
  EXPECT_EQ(out[1].opcode(), Opcode::kRcCompareSwap);
  EXPECT_EQ(out[1].frame.atomic(), (wire::AtomicEth{kRemote, Key(kRkey), 0x2222, 0x1111}));
  for (const Sent& s : out) {
    EXPECT_EQ(s.frame.payload_length, 0u);
    EXPECT_TRUE(s.frame.ack_request());
  }
  EXPECT_EQ(out[1].psn(), kLocalPsn.value() + 1);
}

TEST_F(AtomicCompletion, AtomicWriteCarriesItsEightBytesFromMemoryOrInline) {
  fill(8, 8, 0x30);
  post(WrOpcode::kAtomicWrite, 1);
  post_send({.opcode = WrOpcode::kAtomicWrite,
             .inline_data = pattern(8),
             .flags = kSendInline | kSendSignaled,
             .remote_address = kRemote,
             .rkey = kRkey});
  const auto out = requests();
  ASSERT_EQ(out.size(), 2u);
  for (const Sent& s : out) {
    EXPECT_EQ(s.opcode(), Opcode::kRcAtomicWrite);
    EXPECT_EQ(s.reth(), (wire::Reth{kRemote, Key(kRkey), 8}));
    EXPECT_TRUE(s.frame.ack_request());
  }
  EXPECT_EQ(out[0].payload(), pattern(8, 0x30));
  EXPECT_EQ(out[1].payload(), pattern(8));
  EXPECT_EQ(qp->req.reads_outstanding, 2u);
}

TEST_F(AtomicCompletion, FlushTakesOnePsnHoweverMuchItNames) {
  post_flush(1, 1u << 31, {wire::Feth::kPersistence, wire::Feth::kRange});
  post_flush(2, 0, {wire::Feth::kGlobalVisibility, wire::Feth::kWholeRegion});
  const auto out = requests();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcFlush);
  EXPECT_EQ(out[0].reth(), (wire::Reth{kRemote, Key(kRkey), 1u << 31}));
  EXPECT_EQ(out[0].frame.feth(), (wire::Feth{2, 0}));
  EXPECT_EQ(out[1].frame.feth(), (wire::Feth{1, 1}));
  EXPECT_EQ(out[1].psn(), kLocalPsn.value() + 1);
}

TEST_F(AtomicCompletion, TheOldValueIsStoredInHostOrder) {
  post(WrOpcode::kAtomicFetchAdd, 1, 1);
  post(WrOpcode::kAtomicCmpSwap, 2, 1, 2);
  requests();
  atomic_ack(kLocalPsn, 0x0102030405060708);
  atomic_ack(kLocalPsn + 1, 99);
  const auto cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].opcode, WcOpcode::kFetchAdd);
  EXPECT_EQ(cqes[0].byte_len, 8u);
  EXPECT_EQ(cqes[1].opcode, WcOpcode::kCompSwap);
  EXPECT_EQ(word(1), 0x0102030405060708u);
  EXPECT_EQ(word(2), 99u);
  EXPECT_EQ(word(3), 0u);
  EXPECT_EQ(qp->req.reads_outstanding, 0u);
  EXPECT_EQ(next_deadline(*qp), kNever);
}

TEST_F(AtomicCompletion, FlushAndAtomicWriteCompleteByAnEmptyReadResponse) {
  post_flush(1, 4096, {1, 0});
  post(WrOpcode::kAtomicWrite, 2);
  requests();
  done(kLocalPsn);
  done(kLocalPsn + 1);
  const auto cqes = send_completions();
  ASSERT_EQ(cqes.size(), 2u);
  EXPECT_EQ(cqes[0].opcode, WcOpcode::kFlush);
  EXPECT_EQ(cqes[1].opcode, WcOpcode::kAtomicWrite);
  EXPECT_EQ(cqes[1].status, WcStatus::kSuccess);
}

TEST_F(AtomicCompletion, AnAckDoesNotCompleteThem) {
  for (const WrOpcode opcode : {WrOpcode::kAtomicFetchAdd, WrOpcode::kAtomicWrite}) {
    make(QpType::kRc);
    post(opcode, 1);
    requests();
    ack(kLocalPsn);
    EXPECT_TRUE(send_completions().empty());
    EXPECT_EQ(qp->req.reads_outstanding, 1u);
  }
}

TEST_F(AtomicCompletion, TheyShareTheSlotsOfReads) {
  qp->attributes.rd_atomic_max = 2;
  post(WrOpcode::kAtomicFetchAdd, 1);
  post(WrOpcode::kRdmaRead, 2);
  post(WrOpcode::kAtomicWrite, 3);
  post_send_of(4, 4);
  EXPECT_EQ(requests().size(), 2u) << "what is behind waits too";
  atomic_ack(kLocalPsn, 1);
  EXPECT_EQ(requests().size(), 2u);
  qp->attributes.rd_atomic_max = 0;
  make(QpType::kRc);
  qp->attributes.rd_atomic_max = 0;
  post(WrOpcode::kAtomicFetchAdd, 1);
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(first_status(), WcStatus::kLocQpOpErr);
}

TEST_F(AtomicCompletion, AFenceWaitsForThem) {
  post(WrOpcode::kAtomicFetchAdd, 1);
  post_send_of(4, 2, kSendSignaled | kSendFence);
  EXPECT_EQ(requests().size(), 1u);
  atomic_ack(kLocalPsn, 1);
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(AtomicCompletion, DrainingWaitsForThem) {
  post(WrOpcode::kAtomicFetchAdd, 1);
  requests();
  put_state(QpState::kSqd);
  qp->attributes.sq_draining = qp->attributes.sqd_async_notify = true;
  raise_if_drained(*qp, env);
  EXPECT_TRUE(events().empty());
  atomic_ack(kLocalPsn, 1);
  EXPECT_EQ(events(), std::vector<EventType>{EventType::kSqDrained});
}

// A later answer says that the atomic's was lost: the same packet again, with the same PSN.
TEST_F(AtomicCompletion, AnAckOfSomethingLaterIsAnImpliedNak) {
  post(WrOpcode::kAtomicFetchAdd, 1, 7);
  post_send_of(4, 2);
  const auto first = requests();
  ack(kLocalPsn + 1);
  EXPECT_EQ(counters.implied_nak_seq_err.value(), 1u);
  const auto again = requests();
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(again[0].opcode(), Opcode::kRcFetchAdd);
  EXPECT_EQ(again[0].psn(), kLocalPsn.value());
  EXPECT_EQ(again[0].frame.atomic(), first[0].frame.atomic());
  EXPECT_EQ(qp->req.reads_outstanding, 1u) << "counted once";
  atomic_ack(kLocalPsn, 3);
  ack(kLocalPsn + 1);
  EXPECT_EQ(send_completions().size(), 2u);
  EXPECT_EQ(word(1), 3u);
}

TEST_F(AtomicCompletion, ALostAnswerIsAskedForAgainByTimeout) {
  post(WrOpcode::kAtomicCmpSwap, 1, 5, 6);
  requests();
  env.now = next_deadline(*qp);
  handle_deadline(*qp, env);
  const auto again = requests();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].opcode(), Opcode::kRcCompareSwap);
  EXPECT_EQ(again[0].psn(), kLocalPsn.value());
  atomic_ack(kLocalPsn, 5);
  atomic_ack(kLocalPsn, 5);  // the answer to the first copy, late
  EXPECT_EQ(send_completions().size(), 1u);
  EXPECT_EQ(dropped(wire::Drop::kUnexpectedResponse), 1u);
}

TEST_F(AtomicCompletion, AnAtomicAckAcknowledgesWhatWasBeforeIt) {
  post_send_of(4, 1);
  post(WrOpcode::kAtomicFetchAdd, 2);
  requests();
  atomic_ack(kLocalPsn + 1, 1);
  EXPECT_EQ(send_completions().size(), 2u);
}

TEST_F(AtomicCompletion, RefusalsByThePeer) {
  struct Row {
    uint8_t syndrome;
    WcStatus status;
  };
  for (const Row row : {Row{0x61, WcStatus::kRemInvReqErr}, Row{0x62, WcStatus::kRemAccessErr},
                        Row{0x63, WcStatus::kRemOpErr}}) {
    make(QpType::kRc);
    post(WrOpcode::kAtomicFetchAdd, 1);
    requests();
    ack(kLocalPsn, row.syndrome);
    EXPECT_EQ(first_status(), row.status);
    EXPECT_EQ(qp->state, QpState::kErr);
    EXPECT_EQ(word(1), 0u);
  }
}

TEST_F(AtomicCompletion, AnOldValueThatCannotBeStoredFails) {
  const Key read_only(0x0201);
  keys.publish(read_only, {buffer.data(), address(0), buffer.size(), kPd, memory::kLocalRead});
  post_send({.opcode = WrOpcode::kAtomicFetchAdd, .sges = {sge(0, 8, read_only)}});
  requests();
  atomic_ack(kLocalPsn, 1);
  EXPECT_EQ(first_status(), WcStatus::kLocProtErr);
  EXPECT_EQ(word(0), 0u);
}

TEST_F(AtomicCompletion, AnAtomicWriteFromMemoryThatIsNotOursFails) {
  post_send({.opcode = WrOpcode::kAtomicWrite, .sges = {sge(0, 8, Key(0x5500))}});
  EXPECT_TRUE(requests().empty());
  EXPECT_EQ(first_status(), WcStatus::kLocProtErr);
}

TEST_F(AtomicCompletion, AnswersThatDoNotFitTheRequest) {
  struct Row {
    const char* why;
    WrOpcode asked;
    Opcode answer;
    size_t bytes;
    WcStatus status;
  };
  const Row rows[] = {
      {"data to an atomic", WrOpcode::kAtomicFetchAdd, Opcode::kRcReadResponseOnly, 0,
       WcStatus::kFatalErr},
      {"an old value to a FLUSH", WrOpcode::kFlush, Opcode::kRcAtomicAcknowledge, 0,
       WcStatus::kBadRespErr},
      {"an old value to an ATOMIC WRITE", WrOpcode::kAtomicWrite, Opcode::kRcAtomicAcknowledge, 0,
       WcStatus::kBadRespErr},
      {"data to a FLUSH", WrOpcode::kFlush, Opcode::kRcReadResponseOnly, 8, WcStatus::kBadRespErr},
      {"a part of data", WrOpcode::kAtomicWrite, Opcode::kRcReadResponseMiddle, 1024,
       WcStatus::kBadRespErr},
      {"an old value to a SEND", WrOpcode::kSend, Opcode::kRcAtomicAcknowledge, 0,
       WcStatus::kBadRespErr},
  };
  for (const Row& row : rows) {
    make(QpType::kRc);
    post(row.asked, 1);
    requests();
    done(kLocalPsn, row.answer, row.bytes);
    EXPECT_EQ(first_status(), row.status) << row.why;
    EXPECT_EQ(qp->state, QpState::kErr) << row.why;
  }
  make(QpType::kRc);
  post(WrOpcode::kAtomicFetchAdd, 1);
  requests();
  atomic_ack(kLocalPsn, 1, 0x62);
  EXPECT_EQ(first_status(), WcStatus::kBadRespErr) << "an ATOMIC ACKNOWLEDGE is never a NAK";
}

// The largest message at the smallest path MTU takes half of the PSN space, which is all that may
// be outstanding.
TEST_F(AtomicCompletion, AReadOf2GiBTakesHalfOfThePsnSpace) {
  const uint32_t mtu = bytes(PathMtu::k256);
  SendWqe wqe{};
  wqe.opcode = WrOpcode::kRdmaRead;
  const std::pair<uint32_t, uint32_t> rows[] = {
      {0, 1}, {1, 1}, {256, 1}, {257, 2}, {(1u << 31) - 256, (1u << 23) - 1}, {1u << 31, 1u << 23}};
  for (const auto& [length, psns] : rows) {
    wqe.length = length;
    EXPECT_EQ(packets_of(wqe, mtu), psns) << length;
  }
  make(QpType::kRc, false, PathMtu::k256);
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 1u << 31)}, .wr_id = 1});
  post_send_of(4, 2);
  const auto out = requests();
  ASSERT_EQ(out.size(), 1u) << "what is behind waits for the window";
  EXPECT_EQ(out[0].reth().length_bytes, 1u << 31);
  EXPECT_EQ(qp->req.outstanding(), 1u << 23);
  EXPECT_EQ(qp->req.next_psn, kLocalPsn + (1u << 23));
  // An answer far inside is known to be outstanding, one past the end is not.
  response({.opcode = Opcode::kRcReadResponseMiddle,
            .psn = kLocalPsn + (1u << 23),
            .payload = pattern(256)});
  EXPECT_EQ(dropped(wire::Drop::kUnexpectedResponse), 1u);
}

TEST_F(AtomicCompletion, AReadBehindASendWaitsForHalfOfThePsnSpace) {
  make(QpType::kRc, false, PathMtu::k256);
  post_send_of(4, 1);
  post_send({.opcode = WrOpcode::kRdmaRead, .sges = {sge(0, 1u << 31)}, .wr_id = 2});
  EXPECT_EQ(requests().size(), 1u);
  ack(kLocalPsn);
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(AtomicCompletion, TheLastPartsOfAMessageOf2GiBLieWhereTheyShould) {
  make(QpType::kRc, false, PathMtu::k4096);
  SendWqe wqe{};
  wqe.opcode = WrOpcode::kRdmaWriteWithImm;
  wqe.length = 1u << 31;
  EXPECT_EQ(packets_of(wqe, qp->mtu_bytes), 1u << 19);
  RequestPacket packet = message_packet(*qp, wqe, (1u << 19) - 2);
  EXPECT_EQ(packet.opcode, Opcode::kRcWriteMiddle);
  EXPECT_FALSE(packet.ends_message);
  packet = message_packet(*qp, wqe, (1u << 19) - 1);
  EXPECT_EQ(packet.opcode, Opcode::kRcWriteLastImmediate);
  EXPECT_EQ(packet.payload_bytes, 4096u);
  EXPECT_TRUE(packet.ends_message);
}

}  // namespace
}  // namespace uroce::transport
