// SPDX-License-Identifier: BSD-3-Clause
// The responder on bad packets: each refusal with its NAK, its status, and nothing written.
#include "transport/qp_fixture.h"
#include "transport/responder.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

class ResponderRefusalTest : public QpFixture {
 protected:
  // One NAK of this syndrome and PSN leaves, the queue pair is in ERR, says nothing more, and the
  // receive queue ends with these statuses.
  void expect_refused(uint8_t syndrome, uint32_t psn, std::vector<WcStatus> statuses = {}) {
    const auto out = responses();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].opcode(), Opcode::kRcAcknowledge);
    EXPECT_EQ(out[0].aeth().syndrome, syndrome);
    EXPECT_EQ(out[0].psn(), psn);
    EXPECT_EQ(qp->state, QpState::kErr);
    std::vector<WcStatus> got;
    for (const Cqe& c : recv_completions()) got.push_back(c.status);
    EXPECT_EQ(got, statuses);
    request({.psn = qp->resp.expected_psn, .payload = pattern(4)});
    EXPECT_TRUE(responses().empty());
  }
  // On a fresh queue pair with two receives: the packet alone, NAK for it, nothing held.
  void expect_refused_alone(uint8_t syndrome, PeerPacket p, bool takes_receive = false,
                            WcStatus status = WcStatus::kRemInvReqErr) {
    const uint32_t access = qp->attributes.access;
    const uint8_t slots = qp->attributes.dest_rd_atomic_max;
    make(QpType::kRc);
    qp->attributes.access = access;
    qp->attributes.dest_rd_atomic_max = slots;
    post_recv(2048, 4096);
    post_recv(2048, 4096);
    p.psn = kPeerPsn;
    request(p);
    expect_refused(syndrome, kPeerPsn.value(),
                   {takes_receive ? status : WcStatus::kWrFlushErr, WcStatus::kWrFlushErr});
    EXPECT_EQ(bytes_at(0, 1024), std::vector<uint8_t>(1024)) << "target memory untouched";
  }
  PeerPacket packet(Opcode opcode, size_t payload = 4) {
    PeerPacket p;
    p.opcode = opcode;
    p.payload = pattern(payload);
    p.ack_request = false;
    p.reth = {address(0), kKey, static_cast<uint32_t>(payload)};
    return p;
  }
  PeerPacket at(uint32_t psn, PeerPacket p) {
    p.psn = Psn(psn);
    return p;
  }
};

TEST_F(ResponderRefusalTest, MiddleOrLastOfNoMessage) {
  for (const Opcode o : {Opcode::kRcSendMiddle, Opcode::kRcWriteMiddle}) {
    expect_refused_alone(0x61, packet(o, 1024));
  }
  for (const Opcode o : {Opcode::kRcSendLast, Opcode::kRcSendLastImmediate, Opcode::kRcWriteLast,
                         Opcode::kRcWriteLastImmediate}) {
    expect_refused_alone(0x61, packet(o));
  }
  EXPECT_EQ(counters.resp_remote_invalid_request.value(), 6u);
}

TEST_F(ResponderRefusalTest, AnythingButTheNextPartInsideAMessage) {
  for (const Opcode o : {Opcode::kRcSendOnly, Opcode::kRcSendFirst, Opcode::kRcWriteLast,
                         Opcode::kRcWriteOnly, Opcode::kRcReadRequest, Opcode::kRcFetchAdd}) {
    make(QpType::kRc);
    post_recv(0, 4096);
    post_recv(0, 4096);
    request(at(0x500, packet(Opcode::kRcSendFirst, 1024)));
    request(at(0x501, packet(o, o == Opcode::kRcSendFirst ? 1024 : 0)));
    expect_refused(0x61, 0x501, {WcStatus::kRemInvReqErr, WcStatus::kWrFlushErr});
  }
  make(QpType::kRc);
  PeerPacket first = at(0x500, packet(Opcode::kRcWriteFirst, 1024));
  first.reth.length_bytes = 2000;
  request(first);
  request(at(0x501, packet(Opcode::kRcSendLast)));
  expect_refused(0x61, 0x501);
}

TEST_F(ResponderRefusalTest, RightsThatTheQueuePairDoesNotGive) {
  qp->attributes.access = memory::kRemoteRead;
  expect_refused_alone(0x61, packet(Opcode::kRcWriteOnly));
  qp->attributes.access = memory::kRemoteWrite;
  PeerPacket read = packet(Opcode::kRcReadRequest, 0);
  read.reth.length_bytes = 4;
  expect_refused_alone(0x61, read);
  qp->attributes.access = memory::kRemoteRead;
  qp->attributes.dest_rd_atomic_max = 0;
  expect_refused_alone(0x61, read);
}

TEST_F(ResponderRefusalTest, LengthsThatDoNotFitThePathMtu) {
  expect_refused_alone(0x61, packet(Opcode::kRcSendOnly, 1028), true);
  expect_refused_alone(0x61, packet(Opcode::kRcSendFirst, 1020), true);
  expect_refused_alone(0x61, packet(Opcode::kRcSendFirst, 1028), true);
  expect_refused_alone(0x61, packet(Opcode::kRcWriteOnly, 1028));
  PeerPacket first = packet(Opcode::kRcWriteFirst, 512);
  first.reth.length_bytes = 2048;
  expect_refused_alone(0x61, first);
  for (const size_t last : {size_t{0}, size_t{1028}}) {
    make(QpType::kRc);
    post_recv(0, 8192);
    request(at(0x500, packet(Opcode::kRcSendFirst, 1024)));
    request(at(0x501, packet(Opcode::kRcSendLast, last)));
    expect_refused(0x61, 0x501, {WcStatus::kRemInvReqErr});
  }
}

// case 11: RETH and payload that do not agree
TEST_F(ResponderRefusalTest, WriteDataThatIsNotAsLongAsTheRethSays) {
  PeerPacket p = packet(Opcode::kRcWriteOnly, 8);
  p.reth.length_bytes = 0;
  expect_refused_alone(0x61, p);
  p = packet(Opcode::kRcWriteOnly, 4);
  p.reth.length_bytes = 8;
  expect_refused_alone(0x61, p);
  p.reth.length_bytes = 3;
  expect_refused_alone(0x61, p);
  p = packet(Opcode::kRcWriteFirst, 1024);
  p.reth.length_bytes = 1000;
  expect_refused_alone(0x61, p);
  PeerPacket read = packet(Opcode::kRcReadRequest, 4);
  expect_refused_alone(0x61, read);
}

TEST_F(ResponderRefusalTest, LastThatBringsMoreOrLessThanIsLeft) {
  for (const size_t last : {size_t{200}, size_t{96}}) {
    make(QpType::kRc);
    PeerPacket first = at(0x500, packet(Opcode::kRcWriteFirst, 1024));
    first.reth.length_bytes = 1124;
    request(first);
    request(at(0x501, packet(Opcode::kRcWriteLast, last)));
    expect_refused(0x61, 0x501);
    EXPECT_EQ(bytes_at(0, 1024), pattern(1024)) << "what FIRST brought stays";
    EXPECT_EQ(buffer[1024], 0);
  }
}

// case 32: before the key is looked at
TEST_F(ResponderRefusalTest, LengthBeyondTheLargestMessage) {
  PeerPacket first = packet(Opcode::kRcWriteFirst, 1024);
  first.reth = {address(0), Key(0xBAD00), 0x80000001};
  expect_refused_alone(0x61, first);
  PeerPacket read = packet(Opcode::kRcReadRequest, 0);
  read.reth = {address(0), Key(0xBAD00), 0x80000001};
  expect_refused_alone(0x61, read);
}

// case 52: no range check that wraps; the whole length counts at the first packet
TEST_F(ResponderRefusalTest, KeyRangeAndRightsOfTheRegion) {
  const Key plain(0x0301);
  keys.publish(plain, {buffer.data(), 0x10000, 0x1000, kPd,
                       memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead});
  const Key local(0x0401);
  keys.publish(local, {buffer.data(), 0x10000, 0x1000, kPd, memory::kLocalWrite});
  const Key foreign(0x0501);
  keys.publish(foreign, {buffer.data(), 0x10000, 0x1000, kPd + 1, kAllAccess});
  const wire::Reth bad[] = {{0xFFFFFFFFFFFFFFC0, plain, 96},
                            {0x10FFF, plain, 2},
                            {0x10000, plain, 0x1001},
                            {0xFFFF, plain, 1},
                            {0x10000, local, 8},
                            {0x10000, foreign, 8},
                            {0x10000, Key(0x0302), 8}};
  for (const wire::Reth& reth : bad) {
    PeerPacket read = packet(Opcode::kRcReadRequest, 0);
    read.reth = reth;
    expect_refused_alone(0x62, read);
    PeerPacket write =
        packet(reth.length_bytes > 1024 ? Opcode::kRcWriteFirst : Opcode::kRcWriteOnly,
               std::min(reth.length_bytes, 1024u));
    write.reth = reth;
    expect_refused_alone(0x62, write);
  }
  EXPECT_EQ(counters.resp_remote_access_errors.value(), 14u);
}

TEST_F(ResponderRefusalTest, WriteWithImmediateAndABadKeyEndsItsReceiveWithTheError) {
  PeerPacket p = packet(Opcode::kRcWriteOnlyImmediate);
  p.reth.rkey = Key(0xBAD00);
  expect_refused_alone(0x62, p, true, WcStatus::kRemAccessErr);
}

TEST_F(ResponderRefusalTest, KeyGoneInTheMiddleOfAWrite) {
  PeerPacket first = at(0x500, packet(Opcode::kRcWriteFirst, 1024));
  first.reth.length_bytes = 2048;
  request(first);
  keys.unpublish(kKey);
  request(at(0x501, packet(Opcode::kRcWriteLast, 1024)));
  EXPECT_EQ(buffer[1024], 0);
  expect_refused(0x62, 0x501);
}

TEST_F(ResponderRefusalTest, SendLongerThanItsReceive) {
  post_recv(0, 10);
  post_recv(0, 10);
  request(at(0x500, packet(Opcode::kRcSendOnly, 11)));
  expect_refused(0x61, 0x500, {WcStatus::kLocLenErr, WcStatus::kWrFlushErr});
  EXPECT_EQ(buffer[0], 0);
  make(QpType::kRc);
  post_recv(0, 1500);
  request(at(0x500, packet(Opcode::kRcSendFirst, 1024)));
  request(at(0x501, packet(Opcode::kRcSendLast, 477)));
  expect_refused(0x61, 0x501, {WcStatus::kLocLenErr});
}

TEST_F(ResponderRefusalTest, ReceiveWithABadLocalKey) {
  post_recv({sge(0, 4), sge(8, 16, Key(0xBAD00))});
  post_recv(0, 10);
  request(at(0x500, packet(Opcode::kRcSendOnly, 11)));
  expect_refused(0x63, 0x500, {WcStatus::kLocProtErr, WcStatus::kWrFlushErr});
  EXPECT_EQ(counters.resp_remote_operational_errors.value(), 1u);
}

TEST_F(ResponderRefusalTest, ReadsBeyondAllRoomAreRefusedAfterAllBeforeWereAnswered) {
  uint32_t psn = 0x500;
  PeerPacket read = packet(Opcode::kRcReadRequest, 0);
  read.reth.length_bytes = 4;
  while (qp->state == QpState::kRts) request(at(psn++, read));
  const auto out = responses();
  ASSERT_GT(out.size(), kReadAtomicMax);
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    EXPECT_EQ(out[i].opcode(), Opcode::kRcReadResponseOnly);
  }
  EXPECT_EQ(out.back().aeth().syndrome, 0x61);
  EXPECT_EQ(out.back().psn(), psn - 1);
}

TEST_F(ResponderRefusalTest, EarlierAnswersLeaveBeforeTheNak) {
  PeerPacket read = packet(Opcode::kRcReadRequest, 0);
  read.reth.length_bytes = 1500;
  request(at(0x500, read));
  request(at(0x502, packet(Opcode::kRcSendMiddle, 1024)));
  const auto out = responses();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1].opcode(), Opcode::kRcReadResponseLast);
  EXPECT_EQ(out[2].aeth().syndrome, 0x61);
}

}  // namespace
}  // namespace uroce::transport
