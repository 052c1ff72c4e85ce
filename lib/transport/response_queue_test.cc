// SPDX-License-Identifier: BSD-3-Clause
// Answers leave in order, coalesced, bounded, and with the right headers.
#include "transport/response_queue.h"

#include "transport/error_class.h"
#include "transport/qp_fixture.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

class ResponseQueueTest : public QpFixture {
 protected:
  static constexpr uint8_t kSequence = Aeth::nak(NakCode::kPsnSequence);
  void owe_read_of(uint32_t first, uint32_t length, size_t offset = 0) {
    owe_read(*qp, Psn(first), address(offset), length, kKey.value(), kPd);
  }
  // "opcode psn" of each packet that goes out.
  std::vector<std::pair<Opcode, uint32_t>> sent() {
    std::vector<std::pair<Opcode, uint32_t>> out;
    for (const Sent& s : responses()) out.emplace_back(s.opcode(), s.psn());
    return out;
  }
  using Packets = std::vector<std::pair<Opcode, uint32_t>>;
};

TEST_F(ResponseQueueTest, NothingOwedNothingSent) {
  EXPECT_FALSE(response_ready(*qp));
  EXPECT_TRUE(responses().empty());
}

TEST_F(ResponseQueueTest, AckGoesToThePeerWithTheHeadersOfTheAddressVector) {
  qp->resp.msn = 0xFFFFFE;
  qp->attributes.av.route = Route::kBoth;
  owe_acknowledge(*qp, Psn(0x123456));
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  const wire::ParsedFrame& f = out[0].frame;
  EXPECT_EQ(f.opcode, Opcode::kRcAcknowledge);
  EXPECT_EQ(f.psn, Psn(0x123456));
  EXPECT_EQ(f.dest_qpn, kPeerQpn);
  EXPECT_EQ(f.pkey, 0xFFFF);
  EXPECT_TRUE(f.mig_req());
  EXPECT_FALSE(f.ack_request());
  EXPECT_FALSE(f.solicited());
  EXPECT_EQ(f.aeth(), (Aeth{0x1F, 0xFFFFFE}));
  EXPECT_TRUE(f.source_is(local_gid));
  EXPECT_TRUE(f.destination_is(peer_gid));
  EXPECT_EQ(f.destination_mac(), kPeerMac);
  EXPECT_EQ(f.udp_source_port(), 0xC123);
  EXPECT_EQ(out[0].bytes.size(), 14u + 48u);
  EXPECT_EQ(out[0].route, Route::kBoth);
  EXPECT_EQ(counters.sent_packets.value(), 1u);
}

TEST_F(ResponseQueueTest, AnAckAbsorbsTheAcksAndSequenceNaksBeforeIt) {
  owe_acknowledge(*qp, Psn(10));
  EXPECT_TRUE(owe_nak(*qp, Psn(11), kSequence));
  owe_acknowledge(*qp, Psn(11));
  owe_acknowledge(*qp, Psn(12));
  EXPECT_EQ(sent(), (Packets{{Opcode::kRcAcknowledge, 12}}));
}

TEST_F(ResponseQueueTest, AnAckNeverOvertakesAReadNorAnRnrNak) {
  owe_acknowledge(*qp, Psn(10));
  owe_read_of(11, 4);
  owe_acknowledge(*qp, Psn(12));
  EXPECT_TRUE(owe_nak(*qp, Psn(13), Aeth::rnr_nak(3)));
  owe_acknowledge(*qp, Psn(13));
  EXPECT_EQ(sent(), (Packets{{Opcode::kRcAcknowledge, 10},
                             {Opcode::kRcReadResponseOnly, 11},
                             {Opcode::kRcAcknowledge, 12},
                             {Opcode::kRcAcknowledge, 13},
                             {Opcode::kRcAcknowledge, 13}}));
}

TEST_F(ResponseQueueTest, ADuplicatesAckLeavesANakAndALaterAckAsTheyAre) {
  owe_acknowledge(*qp, Psn(20));
  owe_acknowledge_again(*qp, Psn(21));
  owe_acknowledge_again(*qp, Psn(18));
  EXPECT_TRUE(owe_nak(*qp, Psn(22), kSequence));
  owe_acknowledge_again(*qp, Psn(21));
  const auto out = responses();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].psn(), 21u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x1F);
  EXPECT_EQ(out[1].aeth().syndrome, 0x60);
}

// case 31: the responder's half
TEST_F(ResponseQueueTest, ReadResponsesOfEveryLengthAtEveryPathMtu) {
  for (const PathMtu mtu :
       {PathMtu::k256, PathMtu::k512, PathMtu::k1024, PathMtu::k2048, PathMtu::k4096}) {
    const uint32_t m = bytes(mtu);
    for (const uint32_t length :
         {0u, 1u, 2u, 3u, m - 1, m, m + 1, 2 * m, 2 * m + 1, 65535u, 65536u, 65537u}) {
      make(QpType::kRc, (length & 1) != 0, mtu);
      fill(5, length, static_cast<uint8_t>(length + m / 256));
      owe_read_of(0xFFFFFE, length, 5);
      const auto out = responses();
      ASSERT_EQ(out.size(), read_response_packets(length, m));
      std::vector<uint8_t> data;
      for (size_t i = 0; i < out.size(); ++i) {
        const bool first = i == 0;
        const bool last = i + 1 == out.size();
        EXPECT_EQ(out[i].opcode(), first && last ? Opcode::kRcReadResponseOnly
                                   : first       ? Opcode::kRcReadResponseFirst
                                   : last        ? Opcode::kRcReadResponseLast
                                                 : Opcode::kRcReadResponseMiddle);
        EXPECT_EQ(out[i].frame.psn, Psn(0xFFFFFE) + static_cast<uint32_t>(i));
        if (first || last) {
          EXPECT_EQ(out[i].aeth().syndrome, 0x1F);
        }
        const auto part = out[i].payload();
        if (!last) {
          ASSERT_EQ(part.size(), m);
        }
        data.insert(data.end(), part.begin(), part.end());
      }
      EXPECT_EQ(data, bytes_at(5, length)) << "MTU " << m << " length " << length;
    }
  }
}

TEST_F(ResponseQueueTest, ReadCarriesTheMsnOfItsAcceptance) {
  qp->resp.msn = 7;
  owe_read_of(1, 2000);
  qp->resp.msn = 9;
  const auto out = responses();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].aeth().msn, 7u);
  EXPECT_EQ(out[1].aeth().msn, 7u);
}

TEST_F(ResponseQueueTest, KeyGoneInTheMiddleOfAReadIsANakAndTheEnd) {
  owe_read_of(100, 3000);
  owe_acknowledge(*qp, Psn(103));
  ASSERT_EQ(responses(1).size(), 1u);
  keys.unpublish(kKey);
  const auto out = responses();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].opcode(), Opcode::kRcAcknowledge);
  EXPECT_EQ(out[0].psn(), 101u);
  EXPECT_EQ(out[0].aeth().syndrome, 0x62);
  EXPECT_EQ(qp->state, QpState::kErr);
  EXPECT_EQ(counters.resp_remote_access_errors.value(), 1u);
  keys.publish(kKey, {buffer.data(), address(0), buffer.size(), kPd, kAllAccess});
  EXPECT_FALSE(response_ready(*qp));
}

TEST_F(ResponseQueueTest, TheReceiveOfAMessageBehindARefusedReadIsFlushed) {
  post_recv(0, 3000);
  owe_read_of(0x4FF, 16);
  request(
      {.opcode = Opcode::kRcSendFirst, .psn = Psn(0x500), .payload = std::vector<uint8_t>(1024)});
  keys.unpublish(kKey);
  EXPECT_EQ(sent(), (Packets{{Opcode::kRcAcknowledge, 0x4FF}}));
  EXPECT_EQ(events(), (std::vector{EventType::kQpAccessErr}));
  const auto done = recv_completions();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, WcStatus::kWrFlushErr);
  keys.publish(kKey, {buffer.data(), address(0), buffer.size(), kPd, kAllAccess});
}

TEST_F(ResponseQueueTest, InErrorOnlyWhatLeadsUpToTheLastNakStillLeaves) {
  owe_read_of(50, 1500);
  owe_acknowledge(*qp, Psn(52));
  owe_last_nak(*qp, Psn(53), Aeth::nak(NakCode::kInvalidRequest));
  put_state(QpState::kErr);
  EXPECT_EQ(sent(), (Packets{{Opcode::kRcReadResponseFirst, 50},
                             {Opcode::kRcReadResponseLast, 51},
                             {Opcode::kRcAcknowledge, 52},
                             {Opcode::kRcAcknowledge, 53}}));
  EXPECT_FALSE(response_ready(*qp));
}

TEST_F(ResponseQueueTest, InErrorByModifyNothingLeaves) {
  owe_acknowledge(*qp, Psn(52));
  enter_error(*qp, env);
  EXPECT_FALSE(response_ready(*qp));
  EXPECT_TRUE(responses().empty());
}

TEST_F(ResponseQueueTest, EverythingIsBoundedAndTheLastNakAlwaysFindsRoom) {
  uint32_t reads = 0;
  while (room_for_read(*qp)) {
    owe_read_of(reads, 1);
    owe_acknowledge(*qp, Psn(0));
    ++reads;
  }
  EXPECT_GE(reads, kReadAtomicMax);
  owe_acknowledge_again(*qp, Psn(4));
  while (owe_nak(*qp, Psn(5), Aeth::rnr_nak(1))) {
  }
  owe_acknowledge(*qp, Psn(5));
  owe_last_nak(*qp, Psn(6), Aeth::nak(NakCode::kInvalidRequest));
  const auto out = responses();
  EXPECT_EQ(out.size(), kResponsesMax);
  EXPECT_EQ(out.back().aeth().syndrome, 0x61);
}

TEST_F(ResponseQueueTest, DuplicatesMayFillAQuarterOnly) {
  uint32_t reads = 0;
  for (; room_for_read_again(*qp); ++reads) owe_read_of(reads, 1);
  EXPECT_EQ(reads, kResponsesMax / 4);
  EXPECT_TRUE(room_for_read(*qp));
}

TEST_F(ResponseQueueTest, IpIdentificationRuns) {
  owe_acknowledge(*qp, Psn(1));
  const auto first = responses();
  owe_acknowledge(*qp, Psn(2));
  const auto second = responses();
  EXPECT_EQ(load_be16(first[0].frame.l3() + 4) + 1, load_be16(second[0].frame.l3() + 4));
}

}  // namespace
}  // namespace uroce::transport
