// SPDX-License-Identifier: BSD-3-Clause
// The transport headers: what is stored parses back, and fields lie where the standard puts them.
#include "wire/headers.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::from_hex;
using testing::Random;

// Stores, parses back and compares; and sees that store() keeps to its bytes.
template <typename Header>
void expect_round_trip(const Header& header) {
  uint8_t bytes[Header::kBytes + 2];
  std::memset(bytes, 0xAA, sizeof bytes);
  header.store(bytes + 1);
  EXPECT_EQ(Header::parse(bytes + 1), header);
  EXPECT_EQ(bytes[0], 0xAA);
  EXPECT_EQ(bytes[Header::kBytes + 1], 0xAA);
}

TEST(Headers, WhatIsStoredParsesBack) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Bth bth = random.bth();
    expect_round_trip(bth);
    expect_round_trip(Reth{random.next(), Key(random.quad()), random.quad()});
    expect_round_trip(Aeth{random.byte(), random.below(1 << 24)});
    expect_round_trip(Deth{random.quad(), Qpn(random.quad())});
    expect_round_trip(AtomicEth{random.next(), Key(random.quad()), random.next(), random.next()});
    expect_round_trip(AtomicAckEth{random.next()});
    expect_round_trip(ImmDt{random.quad()});
    expect_round_trip(Ieth{Key(random.quad())});
    expect_round_trip(
        Feth{static_cast<uint8_t>(random.below(16)), static_cast<uint8_t>(random.below(4))});
    expect_round_trip(XrcEth{random.below(1 << 24)});
  }
}

TEST(Headers, BthBitsLieWhereTheStandardPutsThem) {
  Bth bth;
  bth.opcode = Opcode::kRcSendOnly;
  bth.solicited = true;
  bth.pad = 3;
  bth.version = 1;
  bth.pkey = 0x1234;
  bth.becn = true;
  bth.dest_qpn = Qpn(0xABCDEF);
  bth.ack_request = true;
  bth.psn = Psn(0x123456);
  std::vector<uint8_t> bytes(12);
  bth.store(bytes.data());
  EXPECT_EQ(bytes, from_hex("04f11234 40abcdef 80123456"));
}

TEST(Headers, AethSyndromesSortIntoAckRnrAndNak) {
  for (unsigned syndrome = 0; syndrome < 256; ++syndrome) {
    const Aeth aeth{static_cast<uint8_t>(syndrome), 0};
    AethKind expected = AethKind::kReserved;
    if (syndrome < 0x20) expected = AethKind::kAck;
    if (syndrome >= 0x20 && syndrome < 0x40) expected = AethKind::kRnrNak;
    if (syndrome >= 0x60 && syndrome < 0x80) expected = AethKind::kNak;
    EXPECT_EQ(aeth.kind(), expected) << syndrome;
  }
  EXPECT_EQ(Aeth::rnr_nak(12), 0x2C);
  EXPECT_EQ(Aeth::nak(NakCode::kPsnSequence), 0x60);
  EXPECT_EQ(Aeth::nak(NakCode::kInvalidRequest), 0x61);
  EXPECT_EQ(Aeth::nak(NakCode::kRemoteAccess), 0x62);
  EXPECT_EQ(Aeth::nak(NakCode::kRemoteOperational), 0x63);
  EXPECT_EQ(Aeth::ack(0x1F), Aeth::kAckNoCredits);
  EXPECT_EQ((Aeth{0x2C, 7}).rnr_timer(), 12);
  EXPECT_EQ((Aeth{0x62, 7}).nak_code(), NakCode::kRemoteAccess);
}

TEST(Headers, ImmediateDataKeepsItsBytes) {
  const std::vector<uint8_t> wire = from_hex("01020304");
  const ImmDt imm = ImmDt::parse(wire.data());
  EXPECT_EQ(std::memcmp(&imm.network_order, wire.data(), 4), 0);
}

TEST(Headers, FlushPlacementAndSelectivityShareAByte) {
  std::vector<uint8_t> bytes(4);
  Feth{Feth::kPersistence | Feth::kGlobalVisibility, Feth::kWholeRegion}.store(bytes.data());
  EXPECT_EQ(bytes, from_hex("00000013"));
}

}  // namespace
}  // namespace uroce::wire
