// SPDX-License-Identifier: BSD-3-Clause
// Duplicates: acknowledged again up to the right PSN, READs answered again, nothing done twice.
#include "transport/replay.h"

#include "transport/qp_fixture.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

class ReplayTest : public QpFixture {
 protected:
  PeerPacket write(uint32_t psn, size_t offset, std::vector<uint8_t> data,
                   Opcode opcode = Opcode::kRcWriteOnly, uint32_t length = 0) {
    PeerPacket p;
    p.opcode = opcode;
    p.psn = Psn(psn);
    p.reth = {address(offset), kKey, length != 0 ? length : static_cast<uint32_t>(data.size())};
    p.payload = std::move(data);
    return p;
  }
  PeerPacket read(uint32_t psn, size_t offset, uint32_t length, Key key = kKey) {
    PeerPacket p;
    p.opcode = Opcode::kRcReadRequest;
    p.psn = Psn(psn);
    p.reth = {address(offset), key, length};
    return p;
  }
  void expect(uint32_t psn) { qp->resp.expected_psn = Psn(psn); }
  // PSN of the only ACK that goes out; -1 when something else does.
  int64_t acked() {
    const auto out = responses();
    if (out.size() != 1 || out[0].opcode() != Opcode::kRcAcknowledge) return -1;
    EXPECT_EQ(out[0].aeth().syndrome, 0x1F);
    return out[0].psn();
  }
};

// DU-01
TEST_F(ReplayTest, ResentSendGivesOneCompletionAndTheSameAck) {
  post_recv(0, 64);
  post_recv(64, 64);
  const PeerPacket send{.psn = kPeerPsn, .payload = pattern(8)};
  request(send);
  EXPECT_EQ(acked(), kPeerPsn.value());
  request(send);
  EXPECT_EQ(acked(), kPeerPsn.value());
  EXPECT_EQ(recv_completions().size(), 1u);
  EXPECT_EQ(counters.duplicate_request.value(), 1u);
  EXPECT_EQ(dropped(wire::Drop::kDuplicate), 1u);
}

// DU-05
TEST_F(ReplayTest, ResentWriteIsNotWrittenAgain) {
  request(write(0x500, 0, pattern(8)));
  EXPECT_EQ(acked(), 0x500);
  buffer[3] = 0x77;
  PeerPacket again = write(0x500, 0, pattern(8));
  again.ack_request = false;
  request(again);
  EXPECT_EQ(acked(), 0x500) << "a duplicate is acknowledged, asked for or not";
  EXPECT_EQ(buffer[3], 0x77);
  EXPECT_EQ(qp->resp.msn, 1u);
}

TEST_F(ReplayTest, DuplicateOnAFreshQueuePairIsAcknowledgedBelowTheFirstPsn) {
  request({.psn = kPeerPsn - 5, .payload = pattern(4)});
  EXPECT_EQ(acked(), 0x4FF);
  expect(0);
  request({.psn = Psn(0xFFFFFE), .payload = pattern(4)});
  EXPECT_EQ(acked(), 0xFFFFFF);
}

TEST_F(ReplayTest, HalfThePsnSpaceBehindIsADuplicateOneLessAGap) {
  request({.psn = kPeerPsn + 0x800000, .payload = pattern(4)});
  EXPECT_EQ(acked(), 0x4FF);
  request({.psn = kPeerPsn + 0x7FFFFF, .payload = pattern(4)});
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x60);
}

// case 14
TEST_F(ReplayTest, DuplicateWriteBeforeAReadIsAckedBelowTheRead) {
  expect(30);
  request(write(30, 0, pattern(4, 9)));
  EXPECT_EQ(acked(), 30);
  request(read(31, 0, 4));
  ASSERT_EQ(responses().size(), 1u);
  buffer[0] = 0x55;  // local code
  request(write(30, 0, pattern(4, 9)));
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].psn(), 30u) << "31 would be an implied NAK for the READ";
  EXPECT_EQ(out[0].aeth().msn, 2u) << "today's MSN";
  EXPECT_EQ(buffer[0], 0x55);
}

TEST_F(ReplayTest, DuplicateBetweenTwoReadsIsAckedBelowTheSecond) {
  expect(0xFFFFFD);
  request(read(0xFFFFFD, 0, 2000));  // FFFFFD, FFFFFE
  request(write(0xFFFFFF, 0, pattern(4)));
  request(write(0, 0, pattern(4)));
  request(read(1, 0, 4));
  request(write(2, 0, pattern(4)));
  responses();
  request(write(0xFFFFFF, 0, pattern(4)));
  EXPECT_EQ(acked(), 0);
  request(write(2, 0, pattern(4)));
  EXPECT_EQ(acked(), 2);
}

TEST_F(ReplayTest, TheOldestReadBehindADuplicateCountsHoweverTheSlotsLie) {
  for (uint32_t i = 0; i < 2; ++i) request(read(0x500 + i, 0, 4));
  request(write(0x502, 0, pattern(4)));
  for (uint32_t i = 3; i < 6; ++i) request(read(0x500 + i, 0, 4));  // the ring of four wraps
  responses();
  request(write(0x502, 0, pattern(4)));
  EXPECT_EQ(acked(), 0x502);
}

// case 13
TEST_F(ReplayTest, ReplayedReadDoesNotDisturbAHalfReceivedWrite) {
  expect(20);
  fill(0, 3072);
  request(read(20, 0, 3072));
  ASSERT_EQ(responses().size(), 3u);
  const auto first = pattern(1024, 0x11);
  PeerPacket half = write(23, 8192, first, Opcode::kRcWriteFirst, 3000);
  half.ack_request = false;
  request(half);
  buffer[1] = 0xAB;
  request(read(20, 0, 3072));
  const auto again = responses();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].opcode(), Opcode::kRcReadResponseFirst);
  EXPECT_EQ(again[1].opcode(), Opcode::kRcReadResponseMiddle);
  EXPECT_EQ(again[2].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(again[0].psn(), 20u);
  EXPECT_EQ(again[0].payload()[1], 0xAB) << "today's memory";
  buffer[8192] = 0xCD;
  request(half);
  EXPECT_EQ(acked(), 23);
  EXPECT_EQ(buffer[8192], 0xCD) << "not stored again";
  PeerPacket middle{.opcode = Opcode::kRcWriteMiddle, .psn = Psn(24), .payload = first};
  middle.ack_request = false;
  request(middle);
  request({.opcode = Opcode::kRcWriteLast, .psn = Psn(25), .payload = pattern(952, 3)});
  EXPECT_EQ(acked(), 25);
  EXPECT_EQ(bytes_at(8192 + 2048, 952), pattern(952, 3));
  EXPECT_EQ(qp->resp.msn, 2u);
}

// DU-03
TEST_F(ReplayTest, PartOfAReadAskedForAgainIsAnsweredAsAReadOfThatLength) {
  fill(0, 4096);
  request(read(0x500, 0, 4096));
  ASSERT_EQ(responses().size(), 4u);
  qp->resp.msn = 5;
  request(read(0x502, 2048, 2048));
  auto out = responses();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcReadResponseFirst);
  EXPECT_EQ(out[0].psn(), 0x502u);
  EXPECT_EQ(out[1].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(out[1].psn(), 0x503u);
  EXPECT_EQ(out[1].aeth().msn, 5u) << "today's MSN";
  EXPECT_EQ(out[0].payload(), bytes_at(2048, 1024));
  request(read(0x501, 1024, 3072));
  EXPECT_EQ(responses().size(), 3u) << "the slot keeps the whole READ";
  EXPECT_EQ(qp->resp.expected_psn, Psn(0x504));
}

// DU-04, case 16: outside the old range or with another R_Key no answer
TEST_F(ReplayTest, ReadAskedForAgainWithAnotherKeyOrRangeIsDroppedInSilence) {
  constexpr Key kOther{0x0203};
  keys.publish(kOther, {buffer.data(), address(0), buffer.size(), kPd, kAllAccess});
  request(read(0x500, 1024, 4096));
  responses();
  request(read(0x500, 1024, 4096, kOther));
  request(read(0x502, 3072, 2049));
  request(read(0x502, 1023, 2048));
  request(read(0x502, 1024, 3072));  // more packets than PSNs
  request(read(0x4FF, 1024, 4096));
  request(read(0x500, 1024, 0x80000001));
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(dropped(wire::Drop::kDuplicate), 6u);
  EXPECT_EQ(qp->state, QpState::kRts);
}

TEST_F(ReplayTest, SlotsAreRecycledOldestFirst) {
  for (uint32_t i = 0; i < 5; ++i) {
    request(read(0x500 + i, 64 * i, 16));
    responses();
  }
  request(read(0x500, 0, 16));
  EXPECT_TRUE(responses().empty()) << "four slots, five READs";
  request(read(0x501, 64, 16));
  EXPECT_EQ(responses().size(), 1u);
}

TEST_F(ReplayTest, AFloodOfRepeatedReadsIsBoundedAndNamed) {
  request(read(0x500, 0, 200));
  responses();
  for (uint32_t i = 0; i < 100; ++i) request(read(0x500, 0, 100 + i));
  EXPECT_EQ(responses().size(), kResponsesMax / 4);
  EXPECT_EQ(dropped(wire::Drop::kReplayFull), 100 - kResponsesMax / 4);
}

TEST_F(ReplayTest, AReadAskedForAgainBeforeItsAnswerHasLeftIsAnsweredOnce) {
  request(read(0x500, 0, 16));
  responses();
  for (uint32_t i = 0; i < 100; ++i) request(read(0x500, 0, 16));
  EXPECT_EQ(responses().size(), 1u);
  EXPECT_EQ(dropped(wire::Drop::kDuplicate), 99u) << "the first of them is answered";
}

// What asked again was late: the peer has its answer, and its next request takes the key back.
TEST_F(ReplayTest, AReadAskedForAgainWhoseKeyGoesBeforeItsAnswerLeavesIsDroppedInSilence) {
  request(read(0x500, 0, 16));
  ASSERT_EQ(responses().size(), 1u);
  request(read(0x500, 0, 16));
  request(read(0x501, 0, 0));
  keys.unpublish(kKey);
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(dropped(wire::Drop::kDuplicate), 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_EQ(counters.resp_remote_access_errors.value(), 0u);
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u) << "the answer behind it";
  EXPECT_EQ(out[0].psn(), 0x501u);
  keys.publish(kKey, {buffer.data(), address(0), buffer.size(), kPd, kAllAccess});
}

// The answer to a large READ that lost a packet is not sent to its end first.
TEST_F(ReplayTest, AnAnswerUnderWayGoesOnFromWhereItIsAskedForAgain) {
  fill(0, 8192);
  request(read(0x500, 0, 8192));
  request({.psn = Psn(0x508), .payload = {}});
  ASSERT_EQ(responses(5).size(), 5u);
  request(read(0x502, 2048, 6144));
  const auto out = responses();
  ASSERT_EQ(out.size(), 6u + 1u) << "the rest of the READ once, and the RNR NAK behind it";
  EXPECT_EQ(out[0].opcode(), Opcode::kRcReadResponseFirst);
  EXPECT_EQ(out[0].psn(), 0x502u);
  EXPECT_EQ(out[0].payload(), bytes_at(2048, 1024));
  EXPECT_EQ(out[5].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(out[5].psn(), 0x507u);
  EXPECT_EQ(out[5].payload(), bytes_at(7168, 1024));
  EXPECT_EQ(out[6].opcode(), Opcode::kRcAcknowledge);
}

TEST_F(ReplayTest, WhatIsAskedForAgainThoughItIsStillToComeComesOnce) {
  fill(0, 8192);
  request(read(0x500, 0, 8192));
  ASSERT_EQ(responses(2).size(), 2u);
  request(read(0x504, 4096, 4096));
  const auto out = responses();
  ASSERT_EQ(out.size(), 6u);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(out[i].psn(), 0x502u + i);
  EXPECT_EQ(out[5].opcode(), Opcode::kRcReadResponseLast);
}

// Only the same READ goes on: the first part of it has another end.
TEST_F(ReplayTest, AShorterPieceAskedForAgainIsAnAnswerOfItsOwn) {
  fill(0, 8192);
  request(read(0x500, 0, 8192));
  ASSERT_EQ(responses(5).size(), 5u);
  request(read(0x502, 2048, 2048));
  const auto out = responses();
  ASSERT_EQ(out.size(), 3u + 2u);
  EXPECT_EQ(out[2].psn(), 0x507u);
  EXPECT_EQ(out[3].psn(), 0x502u);
  EXPECT_EQ(out[4].psn(), 0x503u);
}

TEST_F(ReplayTest, AReadOfTheLastRoundOfPsnsIsForgotten) {
  request(read(0x500, 0, 16));
  responses();
  for (uint32_t quarter = 1; quarter <= 4; ++quarter) {
    expect(((quarter << 22) - 1) & Psn::kMask);
    request(write(qp->resp.expected_psn.value(), 0, pattern(4)));
  }
  responses();
  expect(0x600);
  request(write(0x4F0, 0, pattern(4)));
  EXPECT_EQ(acked(), 0x5FF) << "not held back by a READ 2^24 PSNs ago";
  request(read(0x500, 0, 16));
  EXPECT_TRUE(responses().empty());
}

TEST_F(ReplayTest, DuplicateOfAnAtomicThatWasNeverExecutedIsDropped) {
  request({.opcode = Opcode::kRcFetchAdd, .psn = kPeerPsn - 1});
  EXPECT_TRUE(responses().empty());
  EXPECT_EQ(dropped(wire::Drop::kDuplicate), 1u);
  EXPECT_EQ(qp->state, QpState::kRts);
}

}  // namespace
}  // namespace uroce::transport
