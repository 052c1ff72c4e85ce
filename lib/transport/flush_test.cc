// SPDX-License-Identifier: BSD-3-Clause
// FLUSH at the responder: which rights it needs, how it is answered, how it is refused.
#include "transport/flush.h"

#include "transport/qp_fixture.h"
#include "transport/reorder.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

using wire::Feth;
using wire::Opcode;

constexpr uint8_t kBoth = Feth::kGlobalVisibility | Feth::kPersistence;

class FlushTest : public QpFixture {
 protected:
  FlushTest() { qp->attributes.access = kRights; }
  PeerPacket flush(Feth feth, size_t offset, uint32_t length, Key key = kKey) {
    return {.opcode = Opcode::kRcFlush,
            .psn = kPeerPsn,
            .reth = {address(offset), key, length},
            .feth = feth};
  }
  void expect_taken(const PeerPacket& p, uint32_t access = kRights) {
    make(QpType::kRc);
    qp->attributes.access = access;
    request(p);
    while (run_part()) {
    }
    expect_done_answer(kPeerPsn.value());
    EXPECT_EQ(qp->resp.msn, 1u);
    EXPECT_EQ(qp->resp.expected_psn, kPeerPsn + 1);
  }
  void expect_refused(uint8_t syndrome, const PeerPacket& p, uint32_t access = kRights) {
    make(QpType::kRc);
    qp->attributes.access = access;
    request(p);
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].aeth().syndrome, syndrome);
    EXPECT_EQ(out[0].psn(), kPeerPsn.value());
    EXPECT_EQ(qp->state, QpState::kErr);
  }
  // As the engine does when the deadline has come. False: there is none.
  bool run_part() {
    if (next_deadline(*qp) > env.now) return false;
    handle_deadline(*qp, env);
    return true;
  }
  static constexpr uint32_t kRights = memory::kFlushGlobal | memory::kFlushPersistent;
};

TEST_F(FlushTest, EveryPlacementAndSelectivityIsAnsweredByAnEmptyReadResponse) {
  fill(0, 256);
  const std::vector<uint8_t> before = bytes_at(0, 256);
  for (const uint8_t placement : {Feth::kGlobalVisibility, Feth::kPersistence, kBoth}) {
    expect_taken(flush({placement, Feth::kRange}, 3, 200));
    expect_taken(flush({placement, Feth::kRange}, 0, 0));
    expect_taken(flush({placement, Feth::kWholeRegion}, 0, 0));
  }
  EXPECT_EQ(bytes_at(0, 256), before);
}

TEST_F(FlushTest, TakesOnePsnHoweverMuchItNames) {
  expect_taken(flush({Feth::kGlobalVisibility, Feth::kRange}, 0, kBufferBytes));
}

TEST_F(FlushTest, NeedsTheRightOfEachPlacementFromTheQueuePair) {
  using namespace memory;
  expect_taken(flush({Feth::kGlobalVisibility, 0}, 0, 8), kFlushGlobal);
  expect_taken(flush({Feth::kPersistence, 0}, 0, 8), kFlushPersistent);
  expect_refused(0x61, flush({Feth::kGlobalVisibility, 0}, 0, 8), kFlushPersistent);
  expect_refused(0x61, flush({Feth::kPersistence, 0}, 0, 8), kFlushGlobal | kRemoteWrite);
  expect_refused(0x61, flush({kBoth, 0}, 0, 8), kFlushGlobal);
}

TEST_F(FlushTest, NeedsTheRightOfEachPlacementFromTheKeyAndItsRange) {
  using namespace memory;
  const Key global(0x0301);
  keys.publish(global, {buffer.data(), address(0), 64, kPd, kFlushGlobal});
  expect_taken(flush({Feth::kGlobalVisibility, 0}, 0, 64, global));
  expect_refused(0x62, flush({Feth::kPersistence, 0}, 0, 64, global));
  expect_refused(0x62, flush({kBoth, Feth::kWholeRegion}, 0, 64, global));
  expect_refused(0x62, flush({Feth::kGlobalVisibility, 0}, 1, 64, global));
  expect_refused(0x62, flush({Feth::kGlobalVisibility, 0}, 0, 1, Key(0x7700)));
  expect_refused(0x62, flush({Feth::kGlobalVisibility, Feth::kWholeRegion}, 0, 1, Key(0x7700)));
  // Of a whole region the range is not looked at.
  expect_taken(flush({Feth::kGlobalVisibility, Feth::kWholeRegion}, 1, 64, global));
}

TEST_F(FlushTest, HeadersThatMeanNothingAreRefused) {
  expect_refused(0x61, flush({0, 0}, 0, 8));
  expect_refused(0x61, flush({4, 0}, 0, 8));
  expect_refused(0x61, flush({9, 0}, 0, 8));
  expect_refused(0x61, flush({Feth::kGlobalVisibility, 2}, 0, 8));
  expect_refused(0x61, flush({Feth::kGlobalVisibility, 0}, 0, 0x80000001));
  PeerPacket p = flush({Feth::kGlobalVisibility, 0}, 0, 8);
  p.payload = pattern(4);
  expect_refused(0x61, p);
}

class LongFlush : public FlushTest {
 protected:
  static constexpr Key kLong{0x0401};
  static constexpr uint32_t kParts = 3;

  LongFlush() {
    env.reorder = &early_;
    qp->attributes.access = kRights | memory::kRemoteWrite;
    keys.publish(kLong, {buffer.data(), address(0), kParts * kFlushPartBytes, kPd,
                         kRights | memory::kRemoteWrite});
    ask_ = flush({Feth::kPersistence, Feth::kWholeRegion}, 0, 0, kLong);
  }
  PeerPacket write_behind() {
    return {.opcode = Opcode::kRcWriteOnly,
            .psn = kPeerPsn + 1,
            .payload = pattern(8),
            .reth = {address(64), kLong, 8}};
  }
  PeerPacket ask_;

 private:
  ReorderBuffer early_{16};
};

TEST_F(LongFlush, IsCarriedOutInPartsAndAnsweredAfterTheLast) {
  request(ask_);
  for (uint32_t part = 1; part < kParts; ++part) {
    EXPECT_EQ(qp->resp.flush.written, part * kFlushPartBytes);
    EXPECT_FALSE(response_ready(*qp));
    EXPECT_TRUE(run_part());
  }
  expect_done_answer(kPeerPsn.value());
  EXPECT_EQ(qp->resp.msn, 1u);
  EXPECT_FALSE(run_part());
}

TEST_F(LongFlush, WhatComesBehindItWaitsAndNothingIsMissing) {
  request(ask_);
  request(write_behind());
  request(ask_);  // the peer has lost its patience
  EXPECT_FALSE(response_ready(*qp)) << "no NAK";
  EXPECT_NE(bytes_at(64, 8), pattern(8));
  while (run_part()) {
  }
  EXPECT_EQ(bytes_at(64, 8), pattern(8));
  const auto out = responses();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcReadResponseOnly);
  EXPECT_EQ(out[1].opcode(), Opcode::kRcAcknowledge);
  EXPECT_EQ(out[1].psn(), kPeerPsn.value() + 1);
  EXPECT_EQ(qp->resp.msn, 2u);
}

TEST_F(LongFlush, ThatCameEarlyIsCarriedOutInPartsToo) {
  PeerPacket first = write_behind();
  first.psn = kPeerPsn;
  PeerPacket second = ask_;
  second.psn = kPeerPsn + 1;
  PeerPacket third = write_behind();
  third.psn = kPeerPsn + 2;
  request(third);
  request(second);
  request(first);
  EXPECT_EQ(qp->resp.expected_psn, kPeerPsn + 1);
  responses();
  while (run_part()) {
  }
  EXPECT_EQ(qp->resp.expected_psn, kPeerPsn + 3);
  EXPECT_EQ(responses().size(), 2u);
}

TEST_F(LongFlush, WhoseKeyGoesMeanwhileIsRefused) {
  request(ask_);
  keys.unpublish(kLong);
  EXPECT_TRUE(run_part());
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x62);
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_FALSE(run_part());
}

TEST_F(LongFlush, EndsWithItsQueuePair) {
  request(ask_);
  put_state(QpState::kErr);
  while (run_part()) {
  }
  EXPECT_FALSE(response_ready(*qp));
  EXPECT_EQ(qp->resp.flush.written, kFlushPartBytes);
}

// A slot is needed to answer a duplicate from.
TEST_F(FlushTest, WithoutSlotsNothingIsTaken) {
  qp->attributes.dest_rd_atomic_max = 0;
  request(flush({Feth::kGlobalVisibility, 0}, 0, 8));
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x61);
}

TEST_F(FlushTest, ResentFlushIsAnsweredAgain) {
  const PeerPacket p = flush({Feth::kPersistence, 0}, 0, 8);
  request(p);
  responses();
  keys.unpublish(kKey);  // not looked at again
  request(p);
  expect_done_answer(kPeerPsn.value());
  EXPECT_EQ(qp->resp.msn, 1u);
  PeerPacket other = p;
  other.reth.address += 8;
  request(other);
  EXPECT_TRUE(responses().empty());
}

}  // namespace
}  // namespace uroce::transport
