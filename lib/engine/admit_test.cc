// SPDX-License-Identifier: BSD-3-Clause
// The rules for who takes a packet, one at a time.
#include "engine/admit.h"

#include <gtest/gtest.h>

#include "engine/packet_fixture.h"

namespace uroce::engine {
namespace {

using transport::QpContext;
using transport::QpState;
using transport::QpType;
using wire::Drop;
using wire::Opcode;

constexpr Gid kOurs = Gid::from_ipv4(0x0A000001);
constexpr Gid kPeer = Gid::from_ipv4(0x0A000002);

class Admit : public ::testing::Test {
 protected:
  Admit() {
    qp.attributes.av.sgid = kOurs;
    qp.attributes.av.dgid = kPeer;
    qp.state = QpState::kRts;
    packet.source = kPeer;
    packet.destination = kOurs;
    packet.opcode = Opcode::kRcSendOnly;
  }
  Drop verdict() {
    const Bytes bytes = forge(packet);
    wire::ParsedFrame parsed{};
    EXPECT_EQ(wire::parse_roce(bytes, {}, parsed), Drop::kNone);
    return admit(qp, parsed);
  }

  QpContext qp;
  Forged packet;
};

// KEY-01; case 91.
TEST_F(Admit, PkeysMatchInTheLowBitsAndOneSideIsAFullMember) {
  EXPECT_TRUE(pkeys_match(0xFFFF, 0xFFFF));
  EXPECT_TRUE(pkeys_match(0x7FFF, 0xFFFF));
  EXPECT_FALSE(pkeys_match(0x8000, 0xFFFF));
  EXPECT_FALSE(pkeys_match(0x0000, 0xFFFF));
  EXPECT_FALSE(pkeys_match(0xFFFE, 0xFFFF));
  EXPECT_FALSE(pkeys_match(0x7FFF, 0x7FFF)) << "two limited members do not talk";
  EXPECT_FALSE(pkeys_match(0x8000, 0x8000)) << "0 is no partition";
  EXPECT_TRUE(pkeys_match(0x0012, 0x8012));
}

TEST_F(Admit, APacketOfTheConnectionIsTaken) { EXPECT_EQ(verdict(), Drop::kNone); }

TEST_F(Admit, AForeignPkeyIsRefused_Case55c) {
  packet.pkey = 0x1234;
  EXPECT_EQ(verdict(), Drop::kPkey);
}

// OPC-02.
TEST_F(Admit, ServiceAndTypeMustFit) {
  packet.opcode = Opcode::kUcSendOnly;
  EXPECT_EQ(verdict(), Drop::kQpType);
  packet.opcode = Opcode::kUdSendOnly;
  EXPECT_EQ(verdict(), Drop::kQpType);
  packet.opcode = Opcode::kXrcAcknowledge;
  EXPECT_EQ(verdict(), Drop::kQpType);
  for (const QpType type : {QpType::kUd, QpType::kGsi}) {
    qp.type = type;
    packet.opcode = Opcode::kUdSendOnly;
    EXPECT_EQ(verdict(), Drop::kNone);
    packet.opcode = Opcode::kRcSendOnly;
    EXPECT_EQ(verdict(), Drop::kQpType);
  }
}

TEST_F(Admit, OfXrcTheInitiatorTakesAnswersAndTheTargetRequests) {
  for (const QpType type : {QpType::kXrcIni, QpType::kXrcTgt}) {
    qp.type = type;
    packet.opcode = Opcode::kXrcSendOnly;
    EXPECT_EQ(verdict(), type == QpType::kXrcTgt ? Drop::kNone : Drop::kQpType);
    packet.opcode = Opcode::kXrcAcknowledge;
    EXPECT_EQ(verdict(), type == QpType::kXrcIni ? Drop::kNone : Drop::kQpType);
    packet.opcode = Opcode::kRcSendOnly;
    EXPECT_EQ(verdict(), Drop::kQpType);
    packet.opcode = Opcode::kRcAcknowledge;
    EXPECT_EQ(verdict(), Drop::kQpType);
  }
}

TEST_F(Admit, AnXrcPacketComesFromTheOtherEnd) {
  qp.type = QpType::kXrcTgt;
  packet.opcode = Opcode::kXrcSendOnly;
  packet.source = Gid::from_ipv4(0x0A000003);
  EXPECT_EQ(verdict(), Drop::kSourceAddress);
}

TEST_F(Admit, StatesTakeWhatTheTableSays) {
  struct Row {
    QpState state;
    bool requests;
    bool responses;
  };
  constexpr Row kRows[] = {
      {QpState::kReset, false, false}, {QpState::kInit, false, false}, {QpState::kRtr, true, false},
      {QpState::kRts, true, true},     {QpState::kSqd, true, true},    {QpState::kSqe, true, false},
      {QpState::kErr, false, false},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(static_cast<int>(row.state));
    qp.state = row.state;
    packet.opcode = Opcode::kRcSendOnly;
    EXPECT_EQ(verdict(), row.requests ? Drop::kNone : Drop::kQpState);
    packet.opcode = Opcode::kRcAcknowledge;
    EXPECT_EQ(verdict(), row.responses ? Drop::kNone : Drop::kQpState);
  }
}

// The IP address counts, both ways; a new source MAC is a router or a failover.
TEST_F(Admit, AddressesOfAConnectionAreThoseOfItsVector_Case55) {
  packet.source_mac = {{2, 9, 9, 9, 9, 9}};
  EXPECT_EQ(verdict(), Drop::kNone);
  packet.source = Gid::from_ipv4(0x0A000003);
  EXPECT_EQ(verdict(), Drop::kSourceAddress);
  packet.source = kPeer;
  packet.destination = Gid::from_ipv4(0x0A000004);
  EXPECT_EQ(verdict(), Drop::kSourceAddress);
}

TEST_F(Admit, DatagramsComeFromAnywhere) {
  qp.type = QpType::kUd;
  packet.opcode = Opcode::kUdSendOnly;
  packet.source = Gid::from_ipv4(0x0A000077);
  EXPECT_EQ(verdict(), Drop::kNone);
}

}  // namespace
}  // namespace uroce::engine
