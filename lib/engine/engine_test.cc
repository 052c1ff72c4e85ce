// SPDX-License-Identifier: BSD-3-Clause
// Engines end to end: two devices on a wire, under loss, in virtual time, without allocation.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/random.h"
#include "engine/wire_fixture.h"
#include "transport/retry.h"

// Counts every allocation of this test program.
static std::atomic<uint64_t> allocations{0};

[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  void* p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) std::abort();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace uroce::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using transport::SendWqe;
using transport::WcStatus;
using transport::WrOpcode;

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    wire.settle();
    wire.seen.clear();
    qp = a.create(QpType::kRc);
    peer = b.create(QpType::kRc);
    connect(*qp, *peer);
  }
  SendWqe rdma(WrOpcode opcode, size_t remote_offset, uint64_t wr_id) {
    SendWqe wqe{};
    wqe.wr_id = wr_id;
    wqe.opcode = opcode;
    wqe.flags = transport::kSendSignaled;
    wqe.remote_address = b.address(remote_offset);
    wqe.rkey = TestDevice::kKey.value();
    return wqe;
  }

  TestDevice a{{.number = 1}};
  TestDevice b{{.number = 2}};
  TestWire wire{{&a, &b}};
  std::unique_ptr<TestQp> qp;
  std::unique_ptr<TestQp> peer;
};

TEST_F(EngineTest, ASendArrives) {
  a.fill(0, 3000, 1);
  peer->post_recv(100'000, 4000, 9);
  qp->post_send(0, 3000, 5);
  wire.settle();
  const std::vector<Cqe> sent = qp->sent();
  const std::vector<Cqe> received = peer->received();
  ASSERT_EQ(sent.size(), 1u);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(sent[0].wr_id, 5u);
  EXPECT_EQ(sent[0].status, WcStatus::kSuccess);
  EXPECT_EQ(received[0].wr_id, 9u);
  EXPECT_EQ(received[0].byte_len, 3000u);
  EXPECT_EQ(b.bytes_at(100'000, 3000), a.bytes_at(0, 3000));
}

TEST_F(EngineTest, AWriteAndAReadMoveMemory) {
  a.fill(0, 5000, 7);
  qp->post(rdma(WrOpcode::kRdmaWrite, 200'000, 1), 0, 5000);
  qp->post(rdma(WrOpcode::kRdmaRead, 200'000, 2), 300'000, 5000);
  wire.settle();
  const std::vector<Cqe> sent = qp->sent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].status, WcStatus::kSuccess);
  EXPECT_EQ(b.bytes_at(200'000, 5000), a.bytes_at(0, 5000));
  EXPECT_EQ(a.bytes_at(300'000, 5000), a.bytes_at(0, 5000));
}

TEST_F(EngineTest, TwoQueuePairsOfOneDeviceTalkWithoutTheWire) {
  auto x = a.create(QpType::kRc);
  auto y = a.create(QpType::kRc);
  connect(*x, *y);
  a.fill(0, 2500, 3);
  y->post_recv(50'000, 4000);
  x->post_send(0, 2500);
  wire.settle();
  EXPECT_EQ(x->sent().size(), 1u);
  EXPECT_EQ(a.bytes_at(50'000, 2500), a.bytes_at(0, 2500));
  EXPECT_TRUE(wire.seen.empty());
}

TEST_F(EngineTest, ADatagramArrivesOverTheWire) {
  auto from = a.datagram_qp();
  auto to = b.datagram_qp();
  a.fill(0, 64, 1);
  to->post_recv(0, 200, 3);
  from->post_datagram(*to, 0, 64);
  wire.settle();
  EXPECT_EQ(from->sent().size(), 1u);
  const std::vector<Cqe> received = to->received();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].byte_len, 104u);
  EXPECT_EQ(received[0].src_qpn, from->qpn.value());
  EXPECT_EQ(b.bytes_at(40, 64), a.bytes_at(0, 64));
}

TEST_F(EngineTest, ALostPacketIsSentAgainAfterTheTimeoutAndNotBefore) {
  a.fill(0, 100, 1);
  peer->post_recv(100'000, 4000);
  int lost = 0;
  wire.lose = [&](const Bytes&) { return lost++ == 0; };
  qp->post_send(0, 100);
  const Duration timeout = transport::ack_timeout(14);
  wire.run(timeout - milliseconds(1));
  EXPECT_TRUE(qp->sent().empty());
  EXPECT_EQ(wire.seen.size(), 1u);
  EXPECT_EQ(a.engines[0]->shortest_armed_timeout(), timeout);
  wire.run(timeout * 3);
  ASSERT_EQ(qp->sent().size(), 1u);
  EXPECT_EQ(a.engines[0]->counters().local_ack_timeout_err.value(), 1u);
  EXPECT_EQ(a.engines[0]->shortest_armed_timeout(), Duration::max());
}

// Case 23 with three retries: four sends, then the queue pair fails and the rest is flushed.
TEST_F(EngineTest, ASilentPeerEndsInRetryExceeded_Case23) {
  wire.lose = [](const Bytes&) { return true; };
  for (uint64_t i = 1; i <= 5; ++i) qp->post_send(0, 100, i);
  wire.run(seconds(3));
  const std::vector<Cqe> sent = qp->sent();
  ASSERT_EQ(sent.size(), 5u);
  EXPECT_EQ(sent[0].status, WcStatus::kRetryExcErr);
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(sent[i].status, WcStatus::kWrFlushErr);
    EXPECT_EQ(sent[i].wr_id, i + 1);
  }
  EXPECT_EQ(a.context(*qp).state, QpState::kErr);
  EXPECT_EQ(a.poll_timeout(), kNever);
}

// RNR code 1 asks for 10 us: the wheel keeps it within 2 us.
TEST_F(EngineTest, AnRnrNakIsWaitedOutToTheMicrosecond_Case20) {
  qp->post_send(0, 100);
  wire.settle();
  EXPECT_EQ(b.engines[0]->counters().rnr_nak_sent.value(), 1u);
  peer->post_recv(100'000, 4000);
  const size_t before = wire.seen.size();
  wire.run(Duration(9'900));
  EXPECT_EQ(wire.seen.size(), before);
  wire.run(Duration(2'100));
  EXPECT_GT(wire.seen.size(), before);
  EXPECT_EQ(qp->sent().size(), 1u);
}

// The host stole the core: what is in the ring comes before the timer that waited for it.
TEST_F(EngineTest, AClockGapMovesAckTimers) {
  wire.run(std::chrono::seconds(2));  // the port's reports of its own groups are over
  wire.seen.clear();
  wire.lose = [](const Bytes&) { return true; };
  qp->post_send(0, 100);
  wire.settle();
  const Duration timeout = transport::ack_timeout(14);
  const Duration gap = timeout * 2;
  wire.set_now(wire.now() + gap);
  a.engines[0]->handle_clock_gap(gap);
  wire.settle();
  EXPECT_EQ(wire.seen.size(), 1u) << "nothing fired";
  EXPECT_EQ(a.engines[0]->counters().clock_gaps.value(), 1u);
  wire.run(timeout + milliseconds(1));
  EXPECT_EQ(wire.seen.size(), 2u);
}

// SEND, WRITE and READ in a random mix over a wire that loses one frame in twenty, both ways.
TEST_F(EngineTest, EverythingArrivesOnceUnderLoss) {
  Random random(2024);
  wire.lose = [&](const Bytes&) { return random.below(20) == 0; };
  constexpr size_t kSource = 0;
  constexpr size_t kMessages = 60;
  a.fill(kSource, 60'000, 1);
  for (size_t i = 0; i < kMessages; ++i) {
    const auto length = static_cast<uint32_t>(random.below(5000));
    const size_t from = kSource + random.below(50'000);
    const uint64_t kind = random.below(3);
    if (kind == 0) {
      peer->post_recv(100'000, 5000, i);
      qp->post_send(from, length, i);
    } else if (kind == 1) {
      qp->post(rdma(WrOpcode::kRdmaWrite, 200'000, i), from, length);
    } else {
      qp->post(rdma(WrOpcode::kRdmaRead, from, i), 400'000, length);
    }
    wire.run(seconds(2));
    const std::vector<Cqe> sent = qp->sent();
    ASSERT_EQ(sent.size(), 1u) << "message " << i;
    ASSERT_EQ(sent[0].status, WcStatus::kSuccess);
    if (kind == 0) {
      ASSERT_EQ(peer->received().size(), 1u);
      ASSERT_EQ(b.bytes_at(100'000, length), a.bytes_at(from, length));
    } else if (kind == 1) {
      ASSERT_EQ(b.bytes_at(200'000, length), a.bytes_at(from, length));
    } else {
      ASSERT_EQ(a.bytes_at(400'000, length), b.bytes_at(from, length));
    }
  }
  EXPECT_GT(a.engines[0]->counters().retransmitted_packets.value(), 0u);
}

TEST_F(EngineTest, AnArmedQueueRaisesOneEvent) {
  peer->post_recv(0, 100);
  cq_arm(*peer->recv_cq, transport::CqArm::kNextComp);
  qp->post_send(0, 8);
  wire.settle();
  std::vector<transport::Event> events;
  while (const auto event = b.engines[0]->poll_event()) events.push_back(*event);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, transport::EventType::kCompletion);
  EXPECT_EQ(events[0].object, peer->recv_cq);
}

// Packets, timers, control frames and multicast, and not one allocation.
TEST_F(EngineTest, SteadyStateAllocatesNothing) {
  auto from = a.datagram_qp();
  auto to = a.datagram_qp();
  const Gid group = Gid::from_ipv4(0xEF010201);
  ASSERT_EQ(a.attach(*to, group), 0);
  std::vector<Bytes> rooms(32, Bytes(4500));
  std::vector<TxSlot> slots(32);
  Engine* const engines[] = {a.engines[0].get(), b.engines[0].get()};
  uint64_t used = 0;
  uint64_t frames = 0;
  for (int round = 0; round < 200; ++round) {
    peer->post_recv(100'000, 4000);
    to->post_recv(200'000, 4000);
    qp->post_send(0, 3000);
    from->post_multicast(group, 0, 64);
    const uint64_t before = allocations;
    for (int turn = 0; turn < 6; ++turn) {
      for (size_t side = 0; side < 2; ++side) {
        for (size_t i = 0; i < slots.size(); ++i) {
          slots[i].room = rooms[i].data();
          slots[i].capacity = 4500;
        }
        const size_t count = engines[side]->poll_frames(wire.now(), slots);
        frames += count;
        for (size_t i = 0; i < count; ++i) {
          // The first answer of some rounds is lost, so that timers run too.
          if (round % 5 == 0 && turn == 0 && side == 1) continue;
          RxFrame frame;
          frame.bytes = slots[i].room;
          frame.length = slots[i].length;
          frame.arrival = wire.now();
          if (slots[i].route != Route::kWire) {
            frame.looped = true;
            engines[side]->handle_frames(wire.now(), {&frame, 1});
          }
          frame.looped = false;
          if (slots[i].route != Route::kLocal) {
            engines[1 - side]->handle_frames(wire.now(), {&frame, 1});
          }
        }
        engines[side]->handle_timeout(wire.now());
      }
      wire.set_now(wire.now() + milliseconds(70));
    }
    used += allocations - before;
    qp->sent();
    peer->received();
    to->received();
    from->sent();
  }
  EXPECT_GT(frames, 1000u);
  EXPECT_EQ(used, 0u);
}

}  // namespace
}  // namespace uroce::engine
