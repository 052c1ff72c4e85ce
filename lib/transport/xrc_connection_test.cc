// SPDX-License-Identifier: BSD-3-Clause
// An XRC initiator against an XRC target with two shared receive queues, over a network that loses,
// duplicates and reorders, with receives that are posted late. No foreign peer has XRC in software:
// what this shows is that the two ends agree with each other.
#include <deque>
#include <random>

#include "transport/qp_fixture.h"
#include "transport/retry.h"
#include "transport/xrc_fixture.h"

namespace uroce::transport {
namespace {

constexpr uint32_t kMessages = 200;
constexpr uint32_t kLengthMax = 3000;
constexpr size_t kSlot = 4096;
// Areas of an end's memory: to send from, to receive into, to be written to and read from.
constexpr size_t kRecvArea = kMessages * kSlot;
constexpr size_t kRemoteArea = 2 * kMessages * kSlot;
static_assert(kRemoteArea + kMessages * kSlot <= size_t{4} << 20);
constexpr uint32_t kNumbers[] = {0x000142, 0x000243};

class XrcEnd : public QpFixture {
 public:
  void TestBody() override {}
  using QpFixture::address;
  using QpFixture::bytes_at;
  using QpFixture::counters;
  using QpFixture::env;
  using QpFixture::fill;
  using QpFixture::kKey;
  using QpFixture::kPd;
  using QpFixture::post_send;
  using QpFixture::qp;
  using QpFixture::requests;
  using QpFixture::responses;
  using QpFixture::send_completions;
  using QpFixture::sge;

  void initiate() {
    make(QpType::kXrcIni, false, PathMtu::k256, {16, 0, 2, 0, 0});
    qp->attributes.rnr_retry = qp->req.rnr_left = 7;
    qp->attributes.retry_count = qp->req.retry_left = 7;
    qp->req.next_psn = qp->req.max_psn = qp->req.unacked_psn = Psn(0xFFFFC0);
  }
  void answer() {
    make(QpType::kXrcTgt, false, PathMtu::k256, {0, 1, 0, XrcQueue::kSges, 0});
    qp->pd = qp->recv_pd = 0;
    qp->send_cq = qp->recv_cq = nullptr;
    qp->xrc_domain = kXrcDomain;
    qp->resp.expected_psn = Psn(0xFFFFC0);
    std::swap(local_gid, peer_gid);
    qp->qpn = kPeerQpn;
    qp->attributes.dest_qpn = kQpn;
    qp->attributes.av = address_vector(local_gid, peer_gid, kPeerMac, kMac);
  }
};

struct Posted {
  WrOpcode opcode;
  uint32_t length;
  uint32_t queue;  // index of kNumbers
};

class XrcConnection : public ::testing::TestWithParam<uint32_t> {
 protected:
  XrcConnection() {
    initiator.initiate();
    target.answer();
    target.fill(kRemoteArea, kMessages * kSlot, 17);
  }
  bool chance(uint32_t percent) { return random() % 100 < percent; }
  void post_one() {
    const auto i = posted.size();
    const Posted p{static_cast<WrOpcode>(random() % 5),
                   static_cast<uint32_t>(random() % kLengthMax),
                   static_cast<uint32_t>(random() % 2)};
    if (p.opcode != WrOpcode::kRdmaRead) {
      initiator.fill(i * kSlot, p.length, static_cast<uint8_t>(random()));
    }
    initiator.post_send({.opcode = p.opcode,
                         .sges = {initiator.sge(i * kSlot, p.length)},
                         .wr_id = i,
                         .remote_address = target.address(kRemoteArea + i * kSlot),
                         .rkey = XrcEnd::kKey.value(),
                         .immediate_be = static_cast<uint32_t>(i),
                         .remote_qpn = kNumbers[p.queue]});
    posted.push_back(p);
  }
  void post_receive(XrcQueue& queue) {
    if (queue.full() || receives == kMessages) return;
    queue.post(receives, {target.sge(kRecvArea + receives * kSlot, kSlot)});
    ++receives;
  }
  void send(std::vector<Sent> packets, std::deque<Sent>& to) {
    for (Sent& packet : packets) {
      if (chance(5)) continue;
      const size_t back = chance(8) ? std::min<size_t>(to.size(), random() % 4) : 0;
      to.insert(to.end() - static_cast<long>(back), std::move(packet));
    }
  }
  void deliver() {
    for (auto most = random() % 12; most > 0 && !requests.empty(); --most) {
      for (int copies = chance(2) ? 2 : 1; copies > 0; --copies) {
        receive_request(*target.qp, target.env, requests.front().frame, {target.env.now});
        cq_publish_all(target.env);
      }
      requests.pop_front();
    }
    for (auto most = random() % 12; most > 0 && !answers.empty(); --most) {
      receive_response(*initiator.qp, initiator.env, answers.front().frame);
      cq_publish_all(initiator.env);
      answers.pop_front();
    }
  }
  // Nothing moves: on to the initiator's next deadline.
  void wait() {
    if (!requests.empty() || !answers.empty() || response_ready(*target.qp) ||
        request_ready(*initiator.qp, initiator.env.now)) {
      return;
    }
    const Time next = next_deadline(*initiator.qp);
    if (next == kNever) return;
    initiator.env.now = target.env.now = std::max(initiator.env.now, next);
    handle_deadline(*initiator.qp, initiator.env);
  }
  void collect() {
    for (const Cqe& cqe : initiator.send_completions()) {
      EXPECT_EQ(cqe.status, WcStatus::kSuccess);
      EXPECT_EQ(cqe.wr_id, done++);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      for (const Cqe& cqe : queues[i].completions()) {
        EXPECT_EQ(cqe.status, WcStatus::kSuccess);
        received[i].push_back(cqe);
      }
    }
  }
  static bool receives_something(const Posted& p) {
    return p.opcode != WrOpcode::kRdmaWrite && p.opcode != WrOpcode::kRdmaRead;
  }
  // Everything that was posted, against the memory of both and the completions of each queue.
  void check() {
    size_t at[2] = {};
    for (size_t i = 0; i < posted.size(); ++i) {
      const Posted& p = posted[i];
      const auto here = initiator.bytes_at(i * kSlot, p.length);
      if (p.opcode != WrOpcode::kSend && p.opcode != WrOpcode::kSendWithImm) {
        EXPECT_TRUE(here == target.bytes_at(kRemoteArea + i * kSlot, p.length)) << i;
      }
      if (!receives_something(p)) continue;
      ASSERT_LT(at[p.queue], received[p.queue].size());
      const Cqe& cqe = received[p.queue][at[p.queue]++];
      EXPECT_EQ(cqe.byte_len, p.length);
      if (p.opcode != WrOpcode::kSend) {
        EXPECT_EQ(cqe.immediate_be, i);
      }
      if (p.opcode != WrOpcode::kRdmaWriteWithImm) {
        EXPECT_TRUE(here == target.bytes_at(kRecvArea + cqe.wr_id * kSlot, p.length)) << i;
      }
    }
    for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(at[i], received[i].size());
  }

  std::mt19937 random{GetParam()};
  XrcEnd initiator;
  XrcEnd target;
  XrcQueue queues[2] = {{target.env, kNumbers[0], XrcEnd::kPd},
                        {target.env, kNumbers[1], XrcEnd::kPd}};
  std::deque<Sent> requests;
  std::deque<Sent> answers;
  std::vector<Posted> posted;
  std::vector<Cqe> received[2];
  uint64_t done = 0;
  uint64_t receives = 0;
};

TEST_P(XrcConnection, EveryMessageOnceInOrderAndWholeInTheQueueThatItNamed) {
  for (int turns = 0; done < kMessages; ++turns) {
    ASSERT_LT(turns, 200'000);
    if (posted.size() < kMessages && posted.size() - done < 12) post_one();
    for (XrcQueue& queue : queues) {
      if (chance(6)) post_receive(queue);
    }
    send(initiator.requests(8), requests);
    send(target.responses(8), answers);
    deliver();
    collect();
    ASSERT_EQ(initiator.qp->state, QpState::kRts);
    ASSERT_EQ(target.qp->state, QpState::kRts);
    wait();
  }
  check();
  EXPECT_GT(target.counters.duplicate_request.value(), 0u);  // the network was bad enough
  EXPECT_GT(target.counters.out_of_sequence.value(), 0u);
  EXPECT_GT(target.counters.rnr_nak_sent.value(), 0u);
  EXPECT_EQ(target.counters.resp_remote_invalid_request.value(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, XrcConnection, ::testing::Range(1u, 11u));

}  // namespace
}  // namespace uroce::transport
