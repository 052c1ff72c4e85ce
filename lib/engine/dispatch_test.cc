// SPDX-License-Identifier: BSD-3-Clause
// What becomes of single frames: who they are for, and under which name they are dropped.
#include "engine/dispatch.h"

#include <gtest/gtest.h>

#include "engine/engine_fixture.h"

namespace uroce::engine {
namespace {

using wire::Drop;
using wire::Opcode;

constexpr Gid kStranger = Gid::from_ipv4(0x0A000002);
constexpr Gid kGroup = Gid::from_ipv4(0xEF010201);

class Dispatch : public ::testing::Test {
 protected:
  explicit Dispatch(const TestDeviceOptions& options = {}) : device(options) {
    qp = device.datagram_qp();
    qp->post_recv(0, 4096);
    settle();
  }
  // A datagram to `qp` that is good in everything.
  Forged datagram() const {
    Forged packet;
    packet.source = kStranger;
    packet.destination = device.ipv4;
    packet.destination_mac = device.mac;
    packet.dest_qpn = qp->qpn;
    packet.deth = {qp->qkey, Qpn(0x77)};
    packet.payload = {1, 2, 3, 4, 5};
    return packet;
  }
  void settle() {
    while (device.turn() > 0) {
    }
    device.outbox.clear();
  }
  // The frame arrives; the named reason, and no other, counts it; nobody answers or completes.
  void expect_drop(const Bytes& frame, Drop reason, uint32_t queue = 0) {
    const uint64_t named = device.dropped(reason);
    const uint64_t all = device.dropped();
    device.receive(frame, queue);
    while (device.turn() > 0) {
    }
    EXPECT_EQ(device.dropped(reason), named + 1) << wire::drop_name(reason);
    EXPECT_EQ(device.dropped(), all + 1) << wire::drop_name(reason);
    EXPECT_TRUE(device.outbox.empty());
    EXPECT_TRUE(qp->received().empty());
  }
  void expect_drop(const Forged& packet, Drop reason) { expect_drop(forge(packet), reason); }
  size_t delivered(const Bytes& frame) {
    device.receive(frame);
    while (device.turn() > 0) {
    }
    return qp->received().size();
  }

  TestDevice device;
  std::unique_ptr<TestQp> qp;
};

TEST_F(Dispatch, AGoodDatagramIsDelivered) {
  EXPECT_EQ(delivered(forge(datagram())), 1u);
  EXPECT_EQ(device.bytes_at(40, 5), (Bytes{1, 2, 3, 4, 5}));
  EXPECT_EQ(device.dropped(), 0u);
  EXPECT_EQ(device.engines[0]->counters().received_packets.value(), 1u);
}

TEST_F(Dispatch, AnAddressThatIsNotOursIsNotForUs) {
  Forged packet = datagram();
  packet.destination = Gid::from_ipv4(0x0A000099);
  expect_drop(packet, Drop::kNotForUs);
}

TEST_F(Dispatch, QpnsThatNobodyHasAreUnknown) {
  Forged packet = datagram();
  for (const uint32_t qpn : {0u, 1u, qp->qpn.value() ^ 0x800000u, qp->qpn.value() + 1}) {
    packet.dest_qpn = Qpn(qpn);
    expect_drop(packet, Drop::kQpnUnknown);
  }
}

TEST_F(Dispatch, ABadIcrcIsSeenByNobody) {
  Forged packet = datagram();
  packet.spoil_icrc = true;
  packet.pkey = 0x1234;
  expect_drop(packet, Drop::kIcrc);
  EXPECT_EQ(device.context(*qp).pkey_violations.value(), 0u) << "not even a violation counter";
}

// KEY-01, KEY-02.
TEST_F(Dispatch, KeysAreChecked) {
  Forged packet = datagram();
  packet.pkey = 0x7FFF;
  EXPECT_EQ(delivered(forge(packet)), 1u);
  uint64_t violations = 0;
  for (const uint16_t pkey : std::initializer_list<uint16_t>{0x8000, 0x0000, 0xFFFE}) {
    packet.pkey = pkey;
    expect_drop(packet, Drop::kPkey);
    EXPECT_EQ(device.context(*qp).pkey_violations.value(), ++violations);
  }
  packet = datagram();
  packet.deth.qkey ^= 1;
  expect_drop(packet, Drop::kQkey);
  EXPECT_EQ(device.context(*qp).qkey_violations.value(), 1u);
}

TEST_F(Dispatch, AddressAndQpnAreOfOneKind_Case64) {
  Forged packet = datagram();
  packet.dest_qpn = kMulticastQpn;
  expect_drop(packet, Drop::kGroupQpnMismatch);
  packet = datagram();
  packet.destination = kGroup;
  packet.destination_mac = group_mac(kGroup);
  expect_drop(packet, Drop::kGroupQpnMismatch);
}

TEST_F(Dispatch, ServicesDoNotMix_OPC02) {
  Forged packet = datagram();
  for (const Opcode opcode : {Opcode::kRcSendOnly, Opcode::kUcSendOnly, Opcode::kRcAcknowledge}) {
    packet.opcode = opcode;
    expect_drop(packet, Drop::kQpType);
  }
}

TEST_F(Dispatch, StatesThatCannotReceiveDrop) {
  auto fresh = device.create(QpType::kUd);
  Forged packet = datagram();
  packet.dest_qpn = fresh->qpn;
  expect_drop(packet, Drop::kQpState);
  device.start_datagrams(*fresh, QpState::kInit);
  expect_drop(packet, Drop::kQpState);
}

TEST_F(Dispatch, ACongestionNotificationIsCountedAndChangesNothing) {
  Forged packet = datagram();
  packet.opcode = Opcode::kCnp;
  packet.payload.clear();
  EXPECT_EQ(delivered(forge(packet)), 0u);
  EXPECT_EQ(device.engines[0]->counters().cnp_received.value(), 1u);
  EXPECT_EQ(device.dropped(), 0u);
  packet.spoil_icrc = true;
  expect_drop(packet, Drop::kIcrc);
  packet.spoil_icrc = false;
  packet.dest_qpn = Qpn(0x654321);
  expect_drop(packet, Drop::kCnpUnknownQp);
  EXPECT_EQ(device.engines[0]->counters().cnp_received.value(), 1u);
}

// OPC-01.
TEST_F(Dispatch, OpcodesOutsideTheTableAreDroppedByName) {
  int unknown = 0;
  for (uint32_t value = 0; value < 256; ++value) {
    if (wire::opcode_info(static_cast<uint8_t>(value)).known) continue;
    Bytes frame = forge(datagram());
    frame[14 + 20 + 8] = static_cast<uint8_t>(value);
    expect_drop(frame, Drop::kOpcodeUnknown);
    ++unknown;
  }
  EXPECT_GT(unknown, 150);
}

TEST_F(Dispatch, AnEmptyFrameHasAName) { expect_drop(Bytes(), Drop::kEmptyFrame); }

TEST_F(Dispatch, ABurstOfManyFramesIsABurstOfOneManyTimes) {
  for (int i = 0; i < 100; ++i) qp->post_recv(0, 4096);
  const Bytes frame = forge(datagram());
  for (int i = 0; i < 90; ++i) device.receive(frame);
  device.turn();
  EXPECT_EQ(qp->received().size(), 90u);
}

// Every opcode and length, good and bad ICRC, to nobody, to a group and to live queue pairs. The
// sanitizer build is the judge; here nothing may be answered but what an RC peer may say.
TEST_F(Dispatch, EveryOpcodeAtEveryLength_Case7) {
  auto rc = device.create(QpType::kRc);
  connect_to(*rc, {kStranger, {{2, 0, 0, 0, 0, 2}}, Qpn(0x77)});
  rc->post_recv(8192, 4096);
  const Qpn targets[] = {kMulticastQpn, Qpn(0x654321), qp->qpn, rc->qpn, Qpn(0)};
  for (const Qpn target : targets) {
    const Gid destination = target == kMulticastQpn ? kGroup : device.ipv4;
    for (uint32_t opcode = 0; opcode < 256; ++opcode) {
      for (uint32_t length = 0; length <= 80; ++length) {
        for (const bool good_icrc : {true, false}) {
          device.receive(forge_raw(kStranger, destination,
                                   {.length = length,
                                    .opcode = static_cast<uint8_t>(opcode),
                                    .dest_qpn = target,
                                    .psn = first_psn(Qpn(0x77)),
                                    .good_icrc = good_icrc}));
        }
      }
    }
    while (device.turn() > 0) {
    }
    device.outbox.clear();
  }
  EXPECT_GE(device.dropped(Drop::kOpcodeUnknown), 150u * 60 * 5);
  EXPECT_GT(device.dropped(Drop::kBthShort), 0u);
}

// --- connections ---

class DispatchConnection : public Dispatch {
 protected:
  DispatchConnection() {
    rc = device.create(QpType::kRc);
    connect_to(*rc, {kStranger, {{2, 0, 0, 0, 0, 2}}, Qpn(0x77)});
  }
  // The WRITE that the connection expects next, good in everything.
  Forged write() const {
    Forged packet;
    packet.opcode = Opcode::kRcWriteOnly;
    packet.source = kStranger;
    packet.destination = device.ipv4;
    packet.destination_mac = device.mac;
    packet.dest_qpn = rc->qpn;
    packet.psn = first_psn(Qpn(0x77));
    packet.ack_request = true;
    packet.payload = {9, 9, 9, 9};
    packet.reth = {device.address(1000), TestDevice::kKey, 4};
    return packet;
  }
  Bytes target() { return device.bytes_at(1000, 4); }

  std::unique_ptr<TestQp> rc;
};

TEST_F(DispatchConnection, AForgedWriteNeedsTheAddressAndThePartition_Case55) {
  Forged packet = write();
  packet.source = Gid::from_ipv4(0x0A000003);
  expect_drop(packet, Drop::kSourceAddress);
  packet = write();
  packet.pkey = 0x1234;
  expect_drop(packet, Drop::kPkey);
  EXPECT_EQ(target(), (Bytes{0, 0, 0, 0}));
  packet = write();
  packet.source_mac = {{2, 5, 5, 5, 5, 5}};
  device.receive(forge(packet));
  device.turn();
  EXPECT_EQ(target(), (Bytes{9, 9, 9, 9})) << "another MAC address is a router or a failover";
}

TEST_F(DispatchConnection, AKeyOfAnotherDomainIsRefusedAloud_Case55d) {
  uint8_t foreign[16] = {};
  device.keys.publish(Key(0x0305), {foreign, 0x1000, sizeof foreign, TestDevice::kPd + 1,
                                    memory::kLocalWrite | memory::kRemoteWrite});
  Forged packet = write();
  packet.reth = {0x1000, Key(0x0305), 4};
  device.receive(forge(packet));
  device.turn();
  EXPECT_EQ(foreign[0], 0);
  ASSERT_EQ(device.outbox.size(), 1u);
  wire::ParsedFrame nak{};
  ASSERT_EQ(wire::parse_roce(device.outbox[0], {}, nak), Drop::kNone);
  EXPECT_EQ(nak.aeth().syndrome, 0x62);
}

TEST_F(DispatchConnection, AWriteWithABadIcrcLeavesMemoryAndPsnAlone) {
  Forged packet = write();
  packet.spoil_icrc = true;
  expect_drop(packet, Drop::kIcrc);
  EXPECT_EQ(target(), (Bytes{0, 0, 0, 0}));
  packet.spoil_icrc = false;
  device.receive(forge(packet));
  device.turn();
  EXPECT_EQ(target(), (Bytes{9, 9, 9, 9}));
}

// Frames of a dead queue pair find nobody when its slot is used again.
TEST_F(DispatchConnection, ReplayedFramesOfAFirstLifePlaceNothing_Case25) {
  const Bytes frame = forge(write());
  ASSERT_EQ(device.to_state(*rc, QpState::kReset), 0);
  ASSERT_EQ(device.destroy(*rc), 0);
  const uint32_t slot = device.layout().slot_of(rc->qpn);
  auto second = device.create_at(QpType::kRc, 0, slot, 2);
  connect_to(*second, {kStranger, {{2, 0, 0, 0, 0, 2}}, Qpn(0x78)});
  second->post_recv(0, 4096);
  for (int i = 0; i < 1000; ++i) device.receive(frame);
  device.turn();
  EXPECT_EQ(device.dropped(Drop::kQpnUnknown), 1000u);
  EXPECT_EQ(target(), (Bytes{0, 0, 0, 0}));
  EXPECT_TRUE(second->received().empty());
  EXPECT_TRUE(device.outbox.empty());
}

// Case 47: ten thousand datagrams a second to a queue pair that goes in the middle of them.
TEST_F(Dispatch, TrafficToADestroyedQueuePairIsDroppedAndCounted_Case47) {
  const Bytes frame = forge(datagram());
  size_t received = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i % 3 == 0 && i < 500) qp->post_recv(0, 4096);
    if (i == 500) {
      received = qp->received().size();
      ASSERT_EQ(device.to_state(*qp, QpState::kReset), 0);
      ASSERT_EQ(device.destroy(*qp), 0);
    }
    device.receive(frame);
    device.turn();
    device.now += std::chrono::microseconds(100);
  }
  EXPECT_GT(received, 100u) << "those that found a receive";
  EXPECT_EQ(received + device.dropped(Drop::kRecvQueueEmpty), 500u);
  EXPECT_EQ(device.dropped(Drop::kQpnUnknown), 500u);
  EXPECT_TRUE(qp->received().empty());
  EXPECT_TRUE(device.outbox.empty());
}

// Case 74.
TEST_F(Dispatch, TheFirstVersionOfRoceIsDroppedByName) {
  Bytes frame = forge(datagram());
  frame[12] = 0x89;
  frame[13] = 0x15;
  expect_drop(frame, Drop::kRocev1);
}

// --- more than one engine ---

class DispatchTwoEngines : public Dispatch {
 protected:
  DispatchTwoEngines() : Dispatch({.engines = 2}) {
    other = device.datagram_qp(1);
    other->post_recv(8192, 4096);
  }
  std::unique_ptr<TestQp> other;
};

TEST_F(DispatchTwoEngines, AFrameGoesToTheEngineThatOwnsTheQueuePair) {
  Forged packet = datagram();
  packet.dest_qpn = other->qpn;
  device.receive(forge(packet), 0);
  device.turn();
  device.turn();
  EXPECT_EQ(other->received().size(), 1u);
  EXPECT_EQ(device.engines[0]->counters().handed_off.value(), 1u);
  EXPECT_EQ(device.engines[0]->counters().received_packets.value(), 0u) << "verified by the owner";
  EXPECT_EQ(device.engines[1]->counters().received_packets.value(), 1u);
  EXPECT_EQ(device.dropped(), 0u);
}

// The queue's engine takes the packet at 5 ms, the owner a turn later.
TEST_F(DispatchTwoEngines, AHandedFrameKeepsTheTimeAtWhichItCame) {
  Forged packet = datagram();
  packet.dest_qpn = other->qpn;
  const Time first = device.now = Time(Duration(5'000'000));
  device.receive(forge(packet), 0);
  device.turn();
  device.now += Duration(7'000);
  device.turn();
  const std::vector<transport::Cqe> by_burst = other->received();
  ASSERT_EQ(by_burst.size(), 1u);
  EXPECT_EQ(by_burst[0].arrival_ns, first.time_since_epoch().count());
  EXPECT_EQ(by_burst[0].wc_flags & transport::kWcRxTimeHardware, 0);

  other->post_recv(8192, 4096);
  device.receive(forge(packet), 0, ReceiveTime{Time(Duration(4'999'123)), true});
  device.turn();
  device.turn();
  const std::vector<transport::Cqe> by_port = other->received();
  ASSERT_EQ(by_port.size(), 1u);
  EXPECT_EQ(by_port[0].arrival_ns, 4'999'123);
  EXPECT_NE(by_port[0].wc_flags & transport::kWcRxTimeHardware, 0);
}

TEST_F(DispatchTwoEngines, QpOneBelongsToEngineZero) {
  auto gsi = device.create(QpType::kGsi);
  gsi->qkey = wire::kGsiQkey;
  device.start_datagrams(*gsi);
  gsi->post_recv(16384, 4096);
  Forged packet = datagram();
  packet.dest_qpn = kGsiQpn;
  packet.deth.qkey = wire::kGsiQkey;
  device.receive(forge(packet), 1);
  device.turn();
  device.turn();
  EXPECT_EQ(gsi->received().size(), 1u);
}

TEST_F(DispatchTwoEngines, ControlFramesGoToEngineZero) {
  Bytes arp(60);
  arp[12] = 0x08;
  arp[13] = 0x06;
  device.receive(arp, 1);
  device.turn();
  EXPECT_EQ(device.engines[1]->counters().handed_off.value(), 1u);
  EXPECT_EQ(device.dropped(), 0u);
  device.turn();
  EXPECT_EQ(device.dropped(Drop::kArpMalformed), 1u) << "judged by engine 0";
}

TEST_F(DispatchTwoEngines, AFullRingIsANamedDrop) {
  Forged packet = datagram();
  packet.dest_qpn = other->qpn;
  const Bytes bytes = forge(packet);
  RxFrame frame;
  frame.bytes = bytes.data();
  frame.length = static_cast<uint32_t>(bytes.size());
  for (int i = 0; i < 5000; ++i) device.engines[0]->handle_frames(device.now, {&frame, 1});
  EXPECT_EQ(device.dropped(Drop::kHandoffFull), 5000u - 4096);
  Handoff out[64];
  size_t taken = 0;
  while (const size_t count = device.engines[0]->poll_handoff(out)) taken += count;
  EXPECT_EQ(taken, 4096u);
}

// --- shared ports and ports that do not filter ---

class DispatchSharedPort : public Dispatch {
 protected:
  DispatchSharedPort() : Dispatch({.own_port = false}) {}
};

TEST_F(DispatchSharedPort, ControlFramesAreTheKernels) {
  Bytes arp(60);
  arp[12] = 0x08;
  arp[13] = 0x06;
  expect_drop(arp, Drop::kEthertype);
}

TEST_F(DispatchSharedPort, WhatTheKernelSendsIsNotReceived) {
  Forged packet = datagram();
  packet.source_mac = device.mac;
  expect_drop(packet, Drop::kOwnSourceMac);
}

class DispatchUnfilteredPort : public Dispatch {
 protected:
  DispatchUnfilteredPort() : Dispatch({.port_filters_nothing = true}) {}
};

TEST_F(DispatchUnfilteredPort, FramesForAnotherMacAddressAreNotForUs) {
  EXPECT_EQ(delivered(forge(datagram())), 1u);
  Forged packet = datagram();
  packet.destination_mac = {{2, 0, 0, 0, 0, 42}};
  expect_drop(packet, Drop::kNotForUs);
}

}  // namespace
}  // namespace uroce::engine
