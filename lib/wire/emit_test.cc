// SPDX-License-Identifier: BSD-3-Clause
// Building frames: what is emitted parses back to the same fields, with right checksums and ICRC.
#include "wire/emit.h"

#include <gtest/gtest.h>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::any_vlan;
using testing::frame_of;
using testing::Random;

AddressFields random_address(Random& random) {
  AddressFields address;
  address.source = random.mac();
  address.destination = random.mac();
  address.vlan = random.coin();
  address.vlan_tci = random.word();
  const bool ipv6 = random.coin();
  address.sgid = ipv6 ? random.ipv6() : random.ipv4();
  address.dgid = ipv6 ? random.ipv6() : random.ipv4();
  address.traffic_class = random.byte();
  address.hop_limit = random.byte();
  address.flow_label = random.below(1 << 20);
  address.udp_source_port = random.word();
  return address;
}

Bth random_bth(Random& random, Opcode opcode, uint32_t payload) {
  Bth bth = random.bth();
  bth.opcode = opcode;
  bth.pad = pad_bytes(payload);
  bth.version = 0;
  return bth;
}

void expect_same(const ParsedFrame& packet, const AddressFields& address, const Bth& bth) {
  EXPECT_EQ(packet.source(), address.sgid);
  EXPECT_EQ(packet.destination(), address.dgid);
  EXPECT_TRUE(packet.source_is(address.sgid));
  EXPECT_TRUE(packet.destination_is(address.dgid));
  EXPECT_FALSE(packet.source_is(address.dgid));
  EXPECT_EQ(packet.source_mac(), address.source);
  EXPECT_EQ(packet.destination_mac(), address.destination);
  EXPECT_EQ(packet.has_vlan, address.vlan);
  EXPECT_EQ(packet.vlan_tci, address.vlan ? address.vlan_tci : 0);
  EXPECT_EQ(packet.traffic_class(), address.traffic_class);
  EXPECT_EQ(packet.hop_limit(), address.hop_limit);
  EXPECT_EQ(packet.flow_label(), packet.ipv6 ? address.flow_label : 0);
  EXPECT_EQ(packet.udp_source_port(), address.udp_source_port);
  EXPECT_EQ(Bth::parse(packet.bth), bth);
  EXPECT_EQ(packet.opcode, bth.opcode);
  EXPECT_EQ(packet.solicited(), bth.solicited);
  EXPECT_EQ(packet.mig_req(), bth.mig_req);
  EXPECT_EQ(packet.fecn(), bth.fecn);
  EXPECT_EQ(packet.becn(), bth.becn);
  EXPECT_EQ(packet.ack_request(), bth.ack_request);
  EXPECT_EQ(packet.pad, bth.pad);
  EXPECT_EQ(packet.pkey, bth.pkey);
  EXPECT_EQ(packet.dest_qpn, bth.dest_qpn);
  EXPECT_EQ(packet.psn, bth.psn);
}

TEST(Emit, WhatIsBuiltParsesBackForEveryOpcode) {
  Random random(2);
  for (int round = 0; round < 40; ++round) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      const OpcodeInfo& info = opcode_info(static_cast<uint8_t>(opcode));
      if (!info.known) continue;
      const AddressFields address = random_address(random);
      const HeaderTemplate t = make_header_template(address);
      const uint32_t payload = info.has(kPayload) ? random.below(1100) : 0;
      const Bth bth = random_bth(random, static_cast<Opcode>(opcode), payload);
      std::vector<uint8_t> room(2048, 0xEE);
      const uint32_t ib_bytes = ib_length(bth.opcode, payload);
      uint8_t* at = emit_headers(room.data(), t, ib_bytes, random.word());
      bth.store(at);
      const uint32_t rest = info.header_bytes - kBthBytes + payload;
      const std::vector<uint8_t> body = random.bytes(rest);
      std::copy(body.begin(), body.end(), at + kBthBytes);
      const uint32_t end = t.length + kBthBytes + rest;
      room.resize(finish_icrc(room.data(), t.l3_offset, t.ipv6, end));
      ASSERT_EQ(room.size(), t.length + ib_bytes);

      ParsedFrame packet;
      ASSERT_EQ(parse_roce(room, any_vlan(), packet), Drop::kNone) << info.name;
      expect_same(packet, address, bth);
      EXPECT_EQ(packet.payload_length, payload);
      EXPECT_EQ(packet.payload, packet.bth + info.header_bytes);
      EXPECT_EQ(packet.ib_bytes(), ib_bytes);
      EXPECT_TRUE(icrc_ok(packet)) << info.name;
      EXPECT_EQ(load_be16(packet.bth - 2), 0) << "UDP checksum";
      if (!packet.ipv6) {
        EXPECT_EQ(packet.l3()[6], 0x40) << "DF";
      }
    }
  }
}

TEST(Emit, AllThreeWaysGiveTheSameFrame) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const HeaderTemplate t = make_header_template(random_address(random));
    const uint32_t payload = random.below(4097);
    const std::vector<uint8_t> data = random.bytes(payload);
    const Bth bth = random_bth(random, Opcode::kRcWriteOnly, payload);
    const Reth reth{random.next(), Key(random.quad()), payload};
    const uint32_t ib_bytes = ib_length(bth.opcode, payload);
    std::vector<uint8_t> plain(4400);
    std::vector<uint8_t> fused(4400);
    uint8_t* at = emit_headers(plain.data(), t, ib_bytes, 9);
    bth.store(at);
    reth.store(at + kBthBytes);
    std::copy(data.begin(), data.end(), at + 28);
    plain.resize(finish_icrc(plain.data(), t.l3_offset, t.ipv6, t.length + 28u + payload));

    IcrcState state = emit_begin(fused.data(), t, ib_bytes, 9, bth);
    at = fused.data() + t.length;
    reth.store(at + kBthBytes);
    state = icrc_update(state, at + kBthBytes, 16);
    state = icrc_copy(state, at + 28, data.data(), payload);
    const uint32_t tail = finish_tail(state, at + 28 + payload, bth.pad);
    fused.resize(t.length + 28u + payload + tail);
    ASSERT_EQ(fused, plain);

    std::vector<uint8_t> sealed(4400);
    at = sealed.data() + t.length;
    reth.store(at + kBthBytes);
    std::copy(data.begin(), data.end(), at + 28);
    sealed.resize(seal_packet(sealed.data(), t, 9, bth, t.length + 28u + payload));
    ASSERT_EQ(sealed, plain);
  }
}

TEST(Emit, V3AndV4AreReproduced) {
  AddressFields address;
  address.source = testing::kMacA;
  address.destination = testing::kMacB;
  address.sgid = Gid{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  address.dgid = Gid{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  address.flow_label = 0x12345;
  address.udp_source_port = 0xC001;
  HeaderTemplate t = make_header_template(address);
  std::vector<uint8_t> room(256);
  Bth bth;
  bth.opcode = Opcode::kUdSendOnly;
  bth.dest_qpn = Qpn(0x12);
  bth.psn = Psn(3);
  uint8_t* at = emit_headers(room.data(), t, ib_length(bth.opcode, 4), 0);
  bth.store(at);
  Deth{0x11111111, Qpn(0x13)}.store(at + 12);
  store_be32(at + 20, 0x70696E67);  // "ping"
  room.resize(finish_icrc(room.data(), t.l3_offset, t.ipv6, t.length + 24u));
  EXPECT_EQ(room, frame_of(testing::kV3));

  address = {};
  address.source = testing::kMacA;
  address.destination = testing::kMacB;
  address.sgid = Gid::from_ipv4(0x0A000002);
  address.dgid = Gid::from_ipv4(0x0A000001);
  address.traffic_class = 0xC0;
  address.udp_source_port = 0xC000;
  t = make_header_template(address);
  room.assign(256, 0xEE);
  bth = {};
  bth.opcode = Opcode::kCnp;
  bth.mig_req = false;
  bth.becn = true;
  bth.dest_qpn = Qpn(0x14);
  at = emit_headers(room.data(), t, ib_length(Opcode::kCnp, 0), 0);
  bth.store(at);
  store_cnp_body(at + kBthBytes);
  room.resize(finish_icrc(room.data(), t.l3_offset, t.ipv6, t.length + 28u));
  EXPECT_EQ(room, frame_of(testing::kV4));
}

TEST(Emit, PadBringsThePayloadToAMultipleOfFour) {
  EXPECT_EQ(pad_bytes(0), 0);
  EXPECT_EQ(pad_bytes(1), 3);
  EXPECT_EQ(pad_bytes(2), 2);
  EXPECT_EQ(pad_bytes(3), 1);
  EXPECT_EQ(pad_bytes(1024), 0);
  EXPECT_EQ(ib_length(Opcode::kRcSendOnly, 5), 12u + 5 + 3 + 4);
  EXPECT_EQ(ib_length(Opcode::kRcAcknowledge, 0), 20u);
}

}  // namespace
}  // namespace uroce::wire
