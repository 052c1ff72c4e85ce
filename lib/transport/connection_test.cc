// SPDX-License-Identifier: BSD-3-Clause
// Two real queue pairs, requester against responder in both directions at once, over a network that
// loses, duplicates and reorders, with receives that are posted late.
#include <deque>
#include <random>

#include "transport/qp_fixture.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

constexpr uint32_t kMessages = 150;  // each way
constexpr uint32_t kLengthMax = 5000;
constexpr size_t kSlot = 8192;
// Four areas of an end's memory: to send from, to receive into, for the peer to write, to read.
constexpr size_t kSendArea = 0;
constexpr size_t kRecvArea = kMessages * kSlot;
constexpr size_t kWriteArea = 2 * kMessages * kSlot;
constexpr size_t kReadBytes = 65536;
constexpr size_t kReadArea = 3 * kMessages * kSlot;
constexpr size_t kCounter = (size_t{4} << 20) - 64;  // a word that the peer counts in
static_assert(kReadArea + kReadBytes <= kCounter);

struct Posted {
  WrOpcode opcode;
  uint32_t length;
  size_t remote_offset;
};

// One end of the connection.
class End : public QpFixture {
 public:
  void TestBody() override {}
  using QpFixture::counters;
  using QpFixture::env;
  using QpFixture::kKey;
  using QpFixture::qp;

  void connect(bool second, PathMtu mtu) {
    make(QpType::kRc, false, mtu);
    qp->attributes.access |= memory::kRemoteAtomic;
    qp->attributes.rnr_retry = qp->req.rnr_left = 7;
    qp->attributes.retry_count = qp->req.retry_left = 7;
    const Psn ours(second ? 0xFFFFC0 : 0x10);
    const Psn theirs(second ? 0x10 : 0xFFFFC0);
    qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = ours;
    qp->resp.expected_psn = theirs;
    if (second) {
      std::swap(local_gid, peer_gid);
      qp->qpn = kPeerQpn;
      qp->attributes.dest_qpn = kQpn;
      qp->attributes.av = address_vector(local_gid, peer_gid, kPeerMac, kMac);
    }
    fill(kReadArea, kReadBytes, second ? 77 : 33);
  }
  void post_one(std::mt19937& random, const End& peer) {
    constexpr WrOpcode kOpcodes[] = {WrOpcode::kRdmaWrite,  WrOpcode::kRdmaWriteWithImm,
                                     WrOpcode::kSend,       WrOpcode::kSendWithImm,
                                     WrOpcode::kRdmaRead,   WrOpcode::kAtomicFetchAdd,
                                     WrOpcode::kAtomicWrite};
    const auto i = posted.size();
    Posted p{kOpcodes[random() % std::size(kOpcodes)],
             random() % 4 == 0 ? 0 : static_cast<uint32_t>(random() % kLengthMax),
             kWriteArea + i * kSlot};
    const size_t offset = kSendArea + i * kSlot;
    if (p.opcode == WrOpcode::kAtomicWrite) p.length = 8;
    if (p.opcode == WrOpcode::kAtomicFetchAdd) {
      p.length = 8;
      p.remote_offset = kCounter;
    } else if (p.opcode == WrOpcode::kRdmaRead) {
      p.remote_offset = kReadArea + random() % (kReadBytes - kLengthMax);
    } else {
      fill(offset, p.length, static_cast<uint8_t>(random()));
    }
    post_send(
        {.opcode = p.opcode,
         .sges = {sge(offset, p.length / 3), sge(offset + p.length / 3, p.length - p.length / 3)},
         .wr_id = i,
         .remote_address = peer.address(p.remote_offset),
         .rkey = kKey.value(),
         .compare_add = 1,
         .immediate_be = static_cast<uint32_t>(i)});
    posted.push_back(p);
  }
  void post_receives(size_t count) {
    // Few at a time, so that the peer often finds none.
    for (; count > 0 && receives < kMessages && receives < received.size() + 3;
         --count, ++receives) {
      post_recv(kRecvArea + receives * kSlot, kSlot, receives);
    }
  }
  void take(const Sent& sent) {
    if (sent.frame.info->has(wire::kResponse)) {
      receive_response(*qp, env, sent.frame);
    } else {
      receive_request(*qp, env, sent.frame, {env.now});
    }
    cq_publish_all(env);
  }
  void collect() {
    for (const Cqe& cqe : send_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      EXPECT_EQ(cqe.wr_id, done++);
    }
    for (const Cqe& cqe : recv_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      EXPECT_EQ(cqe.wr_id, received.size());
      received.push_back(cqe);
    }
  }
  std::vector<Sent> output() {
    std::vector<Sent> out = responses(8);
    for (Sent& packet : requests(8)) out.push_back(std::move(packet));
    return out;
  }
  bool ready() { return response_ready(*qp) || request_ready(*qp, env.now); }

  // Everything that this end posted, against the memory of both.
  void check(const End& peer) const {
    size_t at = 0;
    uint64_t counted = 0;
    for (size_t i = 0; i < posted.size(); ++i) {
      const Posted& p = posted[i];
      const auto here = bytes_at(kSendArea + i * kSlot, p.length);
      if (p.opcode == WrOpcode::kSend || p.opcode == WrOpcode::kSendWithImm) {
        ASSERT_LT(at, peer.received.size());
        EXPECT_EQ(peer.received[at].byte_len, p.length);
        EXPECT_TRUE(here == peer.bytes_at(kRecvArea + at * kSlot, p.length)) << i;
      } else if (p.opcode == WrOpcode::kAtomicFetchAdd) {
        EXPECT_EQ(load_raw<uint64_t>(here.data()), counted++) << "executed once, in order";
      } else {
        EXPECT_TRUE(here == peer.bytes_at(p.remote_offset, p.length)) << i;
      }
      const bool immediate =
          p.opcode == WrOpcode::kSendWithImm || p.opcode == WrOpcode::kRdmaWriteWithImm;
      if (immediate) {
        EXPECT_EQ(peer.received[at].immediate_be, i);
      }
      if (immediate || p.opcode == WrOpcode::kSend) ++at;
    }
    EXPECT_EQ(at, peer.received.size());
    EXPECT_GT(counted, 0u);
    EXPECT_EQ(load_raw<uint64_t>(peer.bytes_at(kCounter, 8).data()), counted);
  }

  std::vector<Posted> posted;
  std::vector<Cqe> received;
  uint64_t done = 0;
  size_t receives = 0;
};

class Connection : public ::testing::TestWithParam<uint32_t> {
 protected:
  bool chance(uint32_t percent) { return random() % 100 < percent; }
  void carry(End& from, End& to) {
    for (Sent& packet : from.output()) {
      if (chance(5)) continue;
      auto& queue = flight[&to == &ends[1] ? 1 : 0];
      const size_t back = chance(8) ? std::min<size_t>(queue.size(), random() % 4) : 0;
      queue.insert(queue.end() - static_cast<long>(back), std::move(packet));
    }
  }
  void deliver(size_t end, size_t most) {
    for (; most > 0 && !flight[end].empty(); --most) {
      for (int copies = chance(2) ? 2 : 1; copies > 0; --copies) {
        ends[end].take(flight[end].front());
      }
      flight[end].pop_front();
    }
  }
  // Nothing moves: on to the next deadline of either end.
  void wait() {
    if (ends[0].ready() || ends[1].ready() || !flight[0].empty() || !flight[1].empty()) return;
    const Time next = std::min(next_deadline(*ends[0].qp), next_deadline(*ends[1].qp));
    if (next == kNever) return;
    for (End& end : ends) {
      end.env.now = std::max(end.env.now, next);
      if (next_deadline(*end.qp) <= end.env.now) handle_deadline(*end.qp, end.env);
    }
  }
  std::mt19937 random{GetParam()};
  End ends[2];
  std::deque<Sent> flight[2];  // towards that end
};

TEST_P(Connection, EveryMessageOnceInOrderAndWholeInBothDirections) {
  const PathMtu mtu = GetParam() % 2 == 0 ? PathMtu::k256 : PathMtu::k1024;
  for (size_t i = 0; i < 2; ++i) ends[i].connect(i == 1, mtu);
  for (int turns = 0; ends[0].done < kMessages || ends[1].done < kMessages; ++turns) {
    ASSERT_LT(turns, 200'000);
    for (size_t i = 0; i < 2; ++i) {
      End& end = ends[i];
      if (end.posted.size() < kMessages && end.posted.size() - end.done < 12) {
        end.post_one(random, ends[1 - i]);
      }
      if (chance(10)) end.post_receives(random() % 4);
      carry(end, ends[1 - i]);
      deliver(i, random() % 12);
      end.collect();
      ASSERT_EQ(end.qp->state, QpState::kRts);
    }
    wait();
  }
  for (const End& end : ends) {  // the network was as bad as it should be
    EXPECT_GT(end.counters.duplicate_request.value(), 0u);
    EXPECT_GT(end.counters.out_of_sequence.value(), 0u);
    EXPECT_GT(end.counters.rnr_nak_sent.value(), 0u);
    EXPECT_EQ(end.counters.resp_remote_invalid_request.value(), 0u);
  }
  ends[0].check(ends[1]);
  ends[1].check(ends[0]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Connection, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace uroce::transport
