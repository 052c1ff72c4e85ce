// SPDX-License-Identifier: BSD-3-Clause
// Tests of requester, completer and retry together over a network that loses, duplicates and
// reorders.
#include <random>

#include "transport/model_peer.h"
#include "transport/qp_fixture.h"
#include "transport/requester.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

// case 31, and every rule above at once: SENDs, WRITEs and READs over a network that loses,
// duplicates and reorders in both directions, against the model peer.
class LossyNetwork : public QpFixture, public ::testing::WithParamInterface<uint32_t> {
 protected:
  struct Posted {
    WrOpcode opcode;
    size_t offset;
    uint32_t length;
    uint64_t remote_address;
  };
  std::mt19937 random{GetParam()};
  bool chance(uint32_t percent) { return random() % 100 < percent; }

  void post_random() {
    const size_t offset = posted.size() * 8192;
    const Posted p{static_cast<WrOpcode>(random() % 5), offset,
                   random() % 4 == 0 ? 0 : static_cast<uint32_t>(random() % 8000), random()};
    if (p.opcode != WrOpcode::kRdmaRead) fill(offset, p.length, static_cast<uint8_t>(random()));
    const uint32_t half = p.length / 2;
    post_send(
        {.opcode = p.opcode,
         .sges = {sge(offset, half), sge(offset + half, p.length - half)},
         .flags = static_cast<uint8_t>(chance(20) ? kSendSignaled | kSendFence : +kSendSignaled),
         .wr_id = posted.size(),
         .remote_address = p.remote_address,
         .immediate_be = static_cast<uint32_t>(posted.size())});
    posted.push_back(p);
  }
  // Lets a packet through none, one or two times, a little out of order.
  template <typename Packet>
  void carry(std::vector<Packet>& flight, Packet packet) {
    if (chance(8)) return;
    const size_t back = chance(10) ? std::min<size_t>(flight.size(), random() % 4) : 0;
    flight.insert(flight.end() - static_cast<long>(back), std::move(packet));
  }
  void turn(ModelPeer& peer) {
    std::vector<Sent> out;
    for (Sent& packet : requests(16)) carry(out, std::move(packet));
    for (const Sent& packet : out) {
      for (int copies = chance(3) ? 2 : 1; copies > 0; --copies) {
        for (const PeerPacket& answer : peer.take(packet)) {
          carry(back_, answer);
          if (chance(3)) carry(back_, answer);
        }
      }
    }
    for (const PeerPacket& answer : std::exchange(back_, {})) response(answer);
  }
  void check(const ModelPeer& peer) {
    ASSERT_EQ(peer.messages.size(), posted.size());
    for (size_t i = 0; i < posted.size(); ++i) {
      const Posted& p = posted[i];
      const ModelPeer::Message& message = peer.messages[i];
      ASSERT_EQ(message.opcode, p.opcode) << i;
      const std::vector<uint8_t> here = bytes_at(p.offset, p.length);
      if (p.opcode == WrOpcode::kRdmaRead) {
        ASSERT_TRUE(here == ModelPeer::bytes_from(p.remote_address, p.length)) << i;
        EXPECT_EQ(buffer[p.offset + p.length], 0) << i;
      } else {
        ASSERT_TRUE(message.data == here) << i;
      }
    }
  }
  std::vector<Posted> posted;
  std::vector<PeerPacket> back_;
};

TEST_P(LossyNetwork, EveryMessageArrivesOnceInOrderAndCompletesOnce) {
  make(QpType::kRc, false, GetParam() % 2 == 0 ? PathMtu::k256 : PathMtu::k1024);
  qp->attributes.retry_count = qp->req.retry_left = 7;
  qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(0xFFFF80);
  ModelPeer peer(Psn(0xFFFF80), qp->mtu_bytes);
  constexpr size_t kMessages = 300;
  uint64_t done = 0;
  for (int turns = 0; done < kMessages; ++turns) {
    ASSERT_LT(turns, 100'000);
    while (posted.size() < kMessages && posted.size() - done < 12) post_random();
    turn(peer);
    for (const Cqe& cqe : send_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      EXPECT_EQ(cqe.wr_id, done++);
    }
    if (request_ready(*qp, env.now)) continue;
    const Time deadline = next_deadline(*qp);
    if (deadline == kNever) {
      ASSERT_EQ(qp->req.outstanding(), 0u);  // nobody waits for ever
    } else {
      env.now = deadline;
      handle_deadline(*qp, env);
    }
    ASSERT_EQ(qp->state, QpState::kRts);
  }
  EXPECT_EQ(qp->req.reads_outstanding, 0u);
  EXPECT_EQ(next_deadline(*qp), kNever);
  EXPECT_GT(counters.retransmitted_packets.value(), 0u);
  EXPECT_GT(counters.implied_nak_seq_err.value(), 0u);
  EXPECT_GT(counters.packet_seq_err.value(), 0u);
  check(peer);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LossyNetwork, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace uroce::transport
