// SPDX-License-Identifier: BSD-3-Clause
// Atomics and ATOMIC WRITE at the responder: executed once, answered with the old value as often as
// it takes, and refused without a trace.
#include "transport/atomic.h"

#include "transport/qp_fixture.h"
#include "transport/response_queue.h"

namespace uroce::transport {
namespace {

using wire::Drop;
using wire::Opcode;

class AtomicTest : public QpFixture {
 protected:
  AtomicTest() { set_up(); }
  void set_up() {
    qp->attributes.access = memory::kRemoteWrite | memory::kRemoteRead | memory::kRemoteAtomic;
  }
  PeerPacket fetch_add(uint32_t psn, size_t offset, uint64_t add, Key key = kKey) {
    return {
        .opcode = Opcode::kRcFetchAdd, .psn = Psn(psn), .atomic = {address(offset), key, add, 0}};
  }
  PeerPacket compare_swap(uint32_t psn, size_t offset, uint64_t compare, uint64_t swap) {
    return {.opcode = Opcode::kRcCompareSwap,
            .psn = Psn(psn),
            .atomic = {address(offset), kKey, swap, compare}};
  }
  PeerPacket atomic_write(uint32_t psn, size_t offset, std::vector<uint8_t> data,
                          uint32_t length = 8) {
    return {.opcode = Opcode::kRcAtomicWrite,
            .psn = Psn(psn),
            .payload = std::move(data),
            .reth = {address(offset), kKey, length}};
  }
  uint64_t word(size_t offset) const { return load_raw<uint64_t>(&buffer[offset]); }
  void set_word(size_t offset, uint64_t value) {
    std::memcpy(&buffer[offset], &value, sizeof value);
  }
  // The only packet that goes out is an ATOMIC ACKNOWLEDGE with this PSN: its old value.
  uint64_t answered(uint32_t psn) {
    const auto out = responses();
    EXPECT_EQ(out.size(), 1u);
    if (out.size() != 1) return ~uint64_t{0};
    EXPECT_EQ(out[0].opcode(), Opcode::kRcAtomicAcknowledge);
    EXPECT_EQ(out[0].psn(), psn);
    EXPECT_EQ(out[0].aeth(), (wire::Aeth{0x1F, qp->resp.msn}));
    EXPECT_EQ(out[0].frame.payload_length, 0u);
    return out[0].frame.atomic_ack().original;
  }
  // On a fresh queue pair: NAK with the packet's PSN, ERR, nothing written.
  void expect_refused(uint8_t syndrome, const PeerPacket& p, uint32_t access) {
    make(QpType::kRc);
    qp->attributes.access = access;
    request(p);
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].opcode(), Opcode::kRcAcknowledge);
    EXPECT_EQ(out[0].aeth().syndrome, syndrome);
    EXPECT_EQ(out[0].psn(), p.psn.value());
    EXPECT_EQ(qp->state, QpState::kErr);
    EXPECT_EQ(bytes_at(0, 64), std::vector<uint8_t>(64));
  }
  void expect_refused(uint8_t syndrome, const PeerPacket& p) {
    expect_refused(syndrome, p, memory::kRemoteWrite | memory::kRemoteRead | memory::kRemoteAtomic);
  }
};

TEST_F(AtomicTest, FetchAddAddsAndAnswersWhatItFound) {
  set_word(8, 0x1122334455667788);
  request(fetch_add(0x500, 8, 0x10));
  EXPECT_EQ(word(8), 0x1122334455667798u);
  EXPECT_EQ(answered(0x500), 0x1122334455667788u);
  EXPECT_EQ(qp->resp.msn, 1u);
  EXPECT_EQ(counters.rx_atomic_requests.value(), 1u);
  set_word(8, ~uint64_t{0});
  request(fetch_add(0x501, 8, 2));
  EXPECT_EQ(word(8), 1u) << "a carry out of the word is lost";
  EXPECT_EQ(word(0), 0u);
  EXPECT_EQ(word(16), 0u);
}

TEST_F(AtomicTest, CompareSwapSwapsOnlyWhatIsEqual) {
  set_word(0, 5);
  request(compare_swap(0x500, 0, 6, 77));
  EXPECT_EQ(answered(0x500), 5u);
  EXPECT_EQ(word(0), 5u);
  request(compare_swap(0x501, 0, 5, 77));
  EXPECT_EQ(answered(0x501), 5u);
  EXPECT_EQ(word(0), 77u);
}

TEST_F(AtomicTest, AtomicWriteStoresItsBytesAsTheyAre) {
  request(atomic_write(0x500, 16, pattern(8)));
  EXPECT_EQ(bytes_at(16, 8), pattern(8));
  expect_done_answer(0x500);
  EXPECT_EQ(qp->resp.msn, 1u);
}

TEST_F(AtomicTest, AnswersLeaveInTheOrderOfTheRequests) {
  request({.opcode = Opcode::kRcReadRequest, .psn = Psn(0x500), .reth = {address(64), kKey, 1025}});
  request(fetch_add(0x502, 0, 1));
  request({.opcode = Opcode::kRcWriteOnly,
           .psn = Psn(0x503),
           .payload = pattern(4),
           .reth = {address(64), kKey, 4}});
  request(fetch_add(0x504, 0, 1));
  std::vector<std::pair<Opcode, uint32_t>> out;
  for (const Sent& s : responses()) out.emplace_back(s.opcode(), s.psn());
  EXPECT_EQ(out, (std::vector<std::pair<Opcode, uint32_t>>{{Opcode::kRcReadResponseFirst, 0x500},
                                                           {Opcode::kRcReadResponseLast, 0x501},
                                                           {Opcode::kRcAtomicAcknowledge, 0x502},
                                                           {Opcode::kRcAcknowledge, 0x503},
                                                           {Opcode::kRcAtomicAcknowledge, 0x504}}));
  EXPECT_EQ(word(0), 2u);
}

// DU-02
TEST_F(AtomicTest, ResentAtomicIsAnsweredWithTheOldValueAndChangesNothing) {
  set_word(0, 40);
  request(fetch_add(0x500, 0, 2));
  EXPECT_EQ(answered(0x500), 40u);
  set_word(0, 1000);  // somebody else since
  request(fetch_add(0x500, 0, 2));
  EXPECT_EQ(answered(0x500), 40u);
  request(fetch_add(0x500, 0, 2));
  EXPECT_EQ(answered(0x500), 40u);
  EXPECT_EQ(word(0), 1000u);
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x501));
  EXPECT_EQ(qp->resp.msn, 1u);
}

TEST_F(AtomicTest, ResentAtomicWriteIsAnsweredAgainAndNotWritten) {
  request(atomic_write(0x500, 0, pattern(8)));
  responses();
  set_word(0, 9);
  request(atomic_write(0x500, 0, pattern(8)));
  expect_done_answer(0x500);
  EXPECT_EQ(word(0), 9u);
}

TEST_F(AtomicTest, ResentAtomicsAreToldApartByPsnOperationAddressAndKey) {
  request(fetch_add(0x500, 0, 1));
  request(fetch_add(0x501, 8, 1));
  responses();
  const PeerPacket others[] = {
      compare_swap(0x500, 0, 0, 1),
      fetch_add(0x501, 0, 1),
      fetch_add(0x500, 0, 1, Key(0x3)),
      fetch_add(0x4FF, 0, 1),
      atomic_write(0x500, 0, pattern(8)),
      {.opcode = Opcode::kRcReadRequest, .psn = Psn(0x500), .reth = {address(0), kKey, 0}},
  };
  for (const PeerPacket& p : others) request(p);
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(dropped(Drop::kDuplicate), std::size(others));
  EXPECT_EQ(word(0), 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(AtomicTest, TheOldestAnswersAreForgottenFirst) {
  qp->attributes.dest_rd_atomic_max = 2;
  for (uint32_t i = 0; i < 3; ++i) request(fetch_add(0x500 + i, 0, 1));
  responses();
  request(fetch_add(0x500, 0, 1));
  EXPECT_TRUE(responses().empty());
  request(fetch_add(0x501, 0, 1));
  EXPECT_EQ(answered(0x501), 1u);
  EXPECT_EQ(word(0), 3u);
}

// IBA C9-105
TEST_F(AtomicTest, DuplicateBeforeAnAtomicIsAcknowledgedBelowIt) {
  const PeerPacket write{.opcode = Opcode::kRcWriteOnly,
                         .psn = Psn(0x500),
                         .payload = pattern(4),
                         .reth = {address(64), kKey, 4}};
  request(write);
  request(fetch_add(0x501, 0, 1));
  responses();
  request(write);
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcAcknowledge);
  EXPECT_EQ(out[0].psn(), 0x500u) << "0x501 would say that the atomic's answer was lost";
}

TEST_F(AtomicTest, TheAnswerOutlivesTheKey) {
  request(fetch_add(0x500, 0, 1));
  responses();
  keys.unpublish(kKey);
  request(fetch_add(0x500, 0, 1));
  EXPECT_EQ(answered(0x500), 0u);
}

// case 11: each on a fresh queue pair, NAK with the packet's PSN, memory stays zero
TEST_F(AtomicTest, LengthsThatDoNotFitAreRefused) {
  for (const size_t extra : {size_t{1}, size_t{4}, size_t{8}}) {
    PeerPacket p = fetch_add(0x500, 0, 1);
    p.payload = pattern(extra);
    expect_refused(0x61, p);
    p = compare_swap(0x500, 0, 0, 1);
    p.payload = pattern(extra);
    expect_refused(0x61, p);
  }
  for (const size_t bytes : {size_t{0}, size_t{4}, size_t{5}, size_t{7}, size_t{9}, size_t{12}}) {
    expect_refused(0x61, atomic_write(0x500, 0, pattern(bytes)));
  }
  for (const uint32_t length : {0u, 4u, 16u, 0x80000001u}) {
    expect_refused(0x61, atomic_write(0x500, 0, pattern(8), length));
  }
}

// case 11
TEST_F(AtomicTest, CutAtomicHeadersAreDropped) {
  std::vector<uint8_t> frame = craft(fetch_add(0x500, 0, 1));
  const size_t ip = 14;
  for (const size_t cut : {size_t{4}, size_t{8}, size_t{28}}) {
    std::vector<uint8_t> shorter(frame.begin(), frame.end() - static_cast<long>(cut));
    store_be16(&shorter[ip + 2], static_cast<uint16_t>(shorter.size() - ip));
    store_be16(&shorter[ip + 20 + 4], static_cast<uint16_t>(shorter.size() - ip - 20));
    wire::ParseOptions options;
    options.ip_checksum = wire::ChecksumVerdict::kGood;
    wire::ParsedFrame parsed{};
    EXPECT_EQ(wire::parse_roce(shorter, options, parsed), Drop::kHeaderShort) << cut;
  }
}

// case 11; the address in the request, and the word where it lies
TEST_F(AtomicTest, WordsThatAreNotAlignedAreRefused) {
  for (const size_t off : {size_t{1}, size_t{4}, size_t{7}}) {
    expect_refused(0x61, fetch_add(0x500, off, 1));
    expect_refused(0x61, compare_swap(0x500, off, 0, 1));
    expect_refused(0x61, atomic_write(0x500, off, pattern(8)));
  }
  const Key odd(0x0301);
  keys.publish(odd, {buffer.data() + 1, 0x8000, 64, kPd, kAllAccess});
  PeerPacket p = fetch_add(0x500, 0, 1, odd);
  p.atomic.address = 0x8000;
  expect_refused(0x61, p);
}

TEST_F(AtomicTest, RightsOfTheQueuePairAndOfTheKey) {
  using namespace memory;
  expect_refused(0x61, fetch_add(0x500, 0, 1), kRemoteWrite | kRemoteRead);
  expect_refused(0x61, compare_swap(0x500, 0, 0, 1), kRemoteWrite | kRemoteRead);
  expect_refused(0x61, atomic_write(0x500, 0, pattern(8)), kRemoteRead | kRemoteAtomic);
  const Key writable(0x0301);
  keys.publish(writable, {buffer.data(), address(0), 64, kPd, kLocalWrite | kRemoteWrite});
  const Key atomic(0x0401);
  keys.publish(atomic, {buffer.data(), address(0), 64, kPd, kLocalWrite | kRemoteAtomic});
  expect_refused(0x62, fetch_add(0x500, 0, 1, writable));
  PeerPacket write = atomic_write(0x500, 0, pattern(8));
  write.reth.rkey = atomic;
  expect_refused(0x62, write);
  expect_refused(0x62, fetch_add(0x500, 0, 1, Key(0x9900)));
  expect_refused(0x62, fetch_add(0x500, 60, 1, atomic));  // the range comes before the alignment
  expect_refused(0x62, fetch_add(0x500, kBufferBytes, 1));
}

TEST_F(AtomicTest, WithoutSlotsNothingIsTaken) {
  for (const PeerPacket& p : {fetch_add(0x500, 0, 1), atomic_write(0x500, 0, pattern(8))}) {
    make(QpType::kRc);
    set_up();
    qp->attributes.dest_rd_atomic_max = 0;
    request(p);
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].aeth().syndrome, 0x61);
    EXPECT_EQ(word(0), 0u);
  }
}

TEST_F(AtomicTest, AFloodOfDuplicatesLeavesRoomForNewRequests) {
  request(fetch_add(0x500, 0, 1));
  for (uint32_t i = 0; i < 3 * kResponsesMax; ++i) request(fetch_add(0x500, 0, 1));
  EXPECT_GT(dropped(Drop::kReplayFull), 0u);
  EXPECT_TRUE(room_for_read(*qp));
  request(fetch_add(0x501, 0, 1));
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_EQ(word(0), 2u);
}

}  // namespace
}  // namespace uroce::transport
