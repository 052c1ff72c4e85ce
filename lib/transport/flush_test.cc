// SPDX-License-Identifier: BSD-3-Clause
// FLUSH at the responder: which rights it needs, how it is answered, how it is refused.
#include "transport/flush.h"

#include "transport/qp_fixture.h"

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
