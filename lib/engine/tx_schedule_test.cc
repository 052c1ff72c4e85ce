// SPDX-License-Identifier: BSD-3-Clause
// Who sends when: turns, budgets, slots that run out, and where packets go.
#include "engine/tx_schedule.h"

#include <gtest/gtest.h>

#include "engine/wire_fixture.h"

namespace uroce::engine {
namespace {

using wire::Opcode;

constexpr Gid kGroup = Gid::from_ipv4(0xEF010201);

class TxSchedule : public ::testing::Test {
 protected:
  explicit TxSchedule(const TestDeviceOptions& options = {.burst_per_qp = 4}) : device(options) {
    device.turn();
    device.outbox.clear();
  }

  struct Packet {
    Qpn dest_qpn;
    Opcode opcode;
    Route route;
  };
  // What poll_frames fills into `count` slots.
  std::vector<Packet> poll(size_t count) {
    std::vector<Bytes> rooms(count, Bytes(4500));
    std::vector<TxSlot> slots(count);
    for (size_t i = 0; i < count; ++i) {
      slots[i].room = rooms[i].data();
      slots[i].capacity = static_cast<uint32_t>(rooms[i].size());
    }
    const size_t filled = device.engines[0]->poll_frames(device.now, slots);
    std::vector<Packet> packets;
    for (size_t i = 0; i < filled; ++i) {
      wire::ParsedFrame parsed{};
      EXPECT_EQ(wire::parse_roce({rooms[i].data(), slots[i].length}, {}, parsed),
                wire::Drop::kNone);
      EXPECT_TRUE(wire::icrc_ok(parsed));
      packets.push_back({parsed.dest_qpn, parsed.opcode, slots[i].route});
    }
    return packets;
  }
  static std::vector<uint32_t> targets(const std::vector<Packet>& packets) {
    std::vector<uint32_t> out;
    for (const Packet& packet : packets) out.push_back(packet.dest_qpn.value());
    return out;
  }
  // An RC queue pair whose packets go to QPN `peer`.
  TestQp& sender(uint32_t peer) {
    qps.push_back(device.create(QpType::kRc));
    connect_to(*qps.back(), {Gid::from_ipv4(0x0A000002), {{2, 0, 0, 0, 0, 2}}, Qpn(peer)});
    return *qps.back();
  }
  TestQp& datagram_sender() {
    qps.push_back(device.datagram_qp());
    return *qps.back();
  }

  TestDevice device;
  std::vector<std::unique_ptr<TestQp>> qps;
};

TEST_F(TxSchedule, QueuePairsTakeTurnsOfABurstEach) {
  sender(0xA).post_send(0, 6 * 1024);
  sender(0xB).post_send(0, 5 * 1024);
  EXPECT_EQ(targets(poll(32)),
            (std::vector<uint32_t>{0xA, 0xA, 0xA, 0xA, 0xB, 0xB, 0xB, 0xB, 0xA, 0xA, 0xB}));
  EXPECT_TRUE(poll(32).empty());
}

TEST_F(TxSchedule, ATurnGoesOnWhenSlotsCameInSmallPortions) {
  sender(0xA).post_send(0, 6 * 1024);
  sender(0xB).post_send(0, 2 * 1024);
  std::vector<uint32_t> order;
  for (int i = 0; i < 8; ++i) {
    for (const uint32_t qpn : targets(poll(1))) order.push_back(qpn);
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{0xA, 0xA, 0xA, 0xA, 0xB, 0xB, 0xA, 0xA}));
}

TEST_F(TxSchedule, AnIdleEngineFillsNothing) {
  sender(0xA);
  EXPECT_TRUE(poll(32).empty());
  EXPECT_TRUE(poll(0).empty());
}

TEST_F(TxSchedule, UnreliableConnectionsTakeTheirTurnsToo) {
  sender(0xA).post_send(0, 6 * 1024);
  qps.push_back(device.create(QpType::kUc));
  connect_to(*qps.back(), {Gid::from_ipv4(0x0A000002), {{2, 0, 0, 0, 0, 2}}, Qpn(0xB)});
  qps.back()->post_send(0, 5 * 1024);
  const std::vector<Packet> packets = poll(32);
  EXPECT_EQ(targets(packets),
            (std::vector<uint32_t>{0xA, 0xA, 0xA, 0xA, 0xB, 0xB, 0xB, 0xB, 0xA, 0xA, 0xB}));
  EXPECT_EQ(packets[4].opcode, Opcode::kUcSendFirst);
  EXPECT_TRUE(poll(32).empty());
}

// A peer waits for responses; requests can wait.
TEST_F(TxSchedule, ResponsesGoBeforeRequests) {
  TestQp& qp = sender(0xA);
  qp.post_send(0, 3 * 1024);
  Forged read;
  read.opcode = Opcode::kRcReadRequest;
  read.source = Gid::from_ipv4(0x0A000002);
  read.destination = device.ipv4;
  read.dest_qpn = qp.qpn;
  read.psn = first_psn(Qpn(0xA));
  read.reth = {device.address(0), TestDevice::kKey, 2 * 1024};
  const Bytes frame = forge(read);
  RxFrame rx;
  rx.bytes = frame.data();
  rx.length = static_cast<uint32_t>(frame.size());
  device.engines[0]->handle_frames(device.now, {&rx, 1});
  const std::vector<Packet> packets = poll(32);
  ASSERT_EQ(packets.size(), 5u);
  EXPECT_EQ(packets[0].opcode, Opcode::kRcReadResponseFirst);
  EXPECT_EQ(packets[1].opcode, Opcode::kRcReadResponseLast);
  EXPECT_EQ(packets[2].opcode, Opcode::kRcSendFirst);
}

TEST_F(TxSchedule, ControlFramesGoFirst) {
  sender(0xA).post_send(0, 8);
  LinkUpCommand up;
  ASSERT_EQ(device.run(0, up), 0);
  device.turn();
  ASSERT_EQ(device.outbox.size(), 4u);
  EXPECT_EQ(device.outbox[0][12], 0x08);
  EXPECT_EQ(device.outbox[0][13], 0x06) << "gratuitous ARP";
  wire::ParsedFrame parsed{};
  EXPECT_EQ(wire::parse_roce(device.outbox[3], {}, parsed), wire::Drop::kNone);
}

// Many work requests that fail locally: the completions come, no slot is filled, nothing spins.
TEST_F(TxSchedule, FailedWorkRequestsEndInCompletions) {
  TestQp& qp = datagram_sender();
  TestQp& to = datagram_sender();
  for (uint64_t i = 0; i < 20; ++i) {
    qp.post_datagram(to, TestDevice::kMemoryBytes + 4096, 8, i);  // outside the region
  }
  EXPECT_TRUE(poll(32).empty());
  const std::vector<Cqe> done = qp.sent();
  ASSERT_EQ(done.size(), 20u);
  EXPECT_EQ(done[0].status, transport::WcStatus::kLocProtErr);
  EXPECT_EQ(done[19].status, transport::WcStatus::kWrFlushErr);
}

// The bell is the only way in which an engine hears of posts to a queue pair in error.
TEST_F(TxSchedule, WhatIsPostedInErrorIsFlushedByTheBell) {
  TestQp& qp = sender(0xA);
  ASSERT_EQ(device.to_state(qp, QpState::kErr), 0);
  qp.post_send(0, 8, 1);
  qp.post_recv(0, 8, 2);
  EXPECT_TRUE(poll(32).empty());
  ASSERT_EQ(qp.sent().size(), 1u);
  ASSERT_EQ(qp.received().size(), 1u);
}

TEST_F(TxSchedule, ABellOfADestroyedQueuePairIsNothing) {
  TestQp& qp = sender(0xA);
  qp.post_send(0, 8);
  ASSERT_EQ(device.destroy(qp), 0);
  EXPECT_TRUE(poll(32).empty());
}

TEST_F(TxSchedule, MulticastComesBackOnlyWhenSomebodyHereListens) {
  TestQp& from = datagram_sender();
  from.post_multicast(kGroup, 0, 8);
  EXPECT_EQ(poll(8)[0].route, Route::kWire);
  TestQp& member = datagram_sender();
  ASSERT_EQ(device.attach(member, Gid::from_ipv4(0xEF000001)), 0);
  from.post_multicast(kGroup, 0, 8);
  EXPECT_EQ(poll(8)[0].route, Route::kWire) << "another group";
  ASSERT_EQ(device.attach(member, kGroup), 0);
  from.post_multicast(kGroup, 0, 8);
  EXPECT_EQ(poll(8)[0].route, Route::kBoth);
}

TEST_F(TxSchedule, DatagramsToOurselvesStayHere) {
  TestQp& from = datagram_sender();
  TestQp& to = datagram_sender();
  to.post_recv(4096, 4096);
  from.post_datagram(to, 0, 8);
  EXPECT_EQ(poll(8)[0].route, Route::kLocal);
}

class TxScheduleTwoEngines : public TxSchedule {
 protected:
  TxScheduleTwoEngines() : TxSchedule({.engines = 2}) {}
};

// The tables of other engines cannot be read, so any member there is reason enough.
TEST_F(TxScheduleTwoEngines, MulticastComesBackForMembersOfOtherEngines) {
  TestQp& from = datagram_sender();
  auto member = device.datagram_qp(1);
  ASSERT_EQ(device.attach(*member, kGroup), 0);
  from.post_multicast(kGroup, 0, 8);
  EXPECT_EQ(poll(8)[0].route, Route::kBoth);
}

}  // namespace
}  // namespace uroce::engine
