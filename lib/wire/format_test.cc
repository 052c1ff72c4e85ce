// SPDX-License-Identifier: BSD-3-Clause
// Frames as lines: the text of known packets, refusals by name, and buffers too small.
#include "wire/format.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/arp.h"
#include "wire/format_link.h"
#include "wire/icmp.h"
#include "wire/igmp.h"
#include "wire/mld.h"
#include "wire/nd.h"
#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::frame_of;
using testing::kL3;
using testing::Random;

std::string line_of(std::span<const uint8_t> frame) {
  char line[kFrameLineBytes];
  const size_t length = format_frame(line, sizeof line, frame, testing::any_vlan());
  EXPECT_LT(length, sizeof line);
  return line;
}

std::string address_text(const Gid& gid) {
  char text[kAddressTextBytes];
  format_address(text, sizeof text, gid);
  return text;
}

std::string syndrome_text(uint8_t syndrome) {
  char text[kSyndromeTextBytes];
  EXPECT_LT(format_syndrome(text, sizeof text, syndrome), sizeof text);
  return text;
}

TEST(Format, TheBasePackets) {
  EXPECT_EQ(line_of(frame_of(testing::kV1)),
            "10.0.0.1 > 10.0.0.2 RC SEND ONLY QPN 0x000011 PSN 0x000001 A M payload 8");
  EXPECT_EQ(line_of(frame_of(testing::kV2)),
            "10.0.0.1 > 10.0.0.2 RC SEND ONLY QPN 0x000011 PSN 0x000002 A M payload 5 pad 3");
  EXPECT_EQ(line_of(frame_of(testing::kV3)),
            "fd00::1 > fd00::2 UD SEND ONLY QPN 0x000012 PSN 0x000003 M Q_Key 0x11111111 from QPN "
            "0x000013 payload 4");
  EXPECT_EQ(line_of(frame_of(testing::kV4)),
            "10.0.0.2 > 10.0.0.1 CNP QPN 0x000014 PSN 0x000000 BECN");
}

TEST(Format, RefusedPacketsSayWhatCanBeReadAndWhy) {
  std::vector<uint8_t> frame = frame_of(testing::kV1);
  frame[kL3 + 28] = 0x1E;
  EXPECT_EQ(line_of(frame),
            "10.0.0.1 > 10.0.0.2 opcode 0x1E QPN 0x000011 PSN 0x000001 refused opcode_unknown: an "
            "opcode that nobody has assigned");
  frame = frame_of(testing::kV1);
  frame.resize(40);
  EXPECT_EQ(line_of(frame).find("not RoCE frame_cut"), 0u);
  EXPECT_EQ(line_of(std::vector<uint8_t>(60)).find("not RoCE ethertype"), 0u);
}

TEST(Format, AddressesAreShortenedAsRfc5952Says) {
  EXPECT_EQ(address_text(Gid{}), "::");
  EXPECT_EQ(address_text(Gid{{0xfd, 0, 0xc6, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}}),
            "fd00:c612::2");
  EXPECT_EQ(address_text(Gid{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2}}),
            "ff02::1:ff00:2");
  EXPECT_EQ(address_text(Gid{{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1}}), "1:0:1::1:1:1");
  EXPECT_EQ(address_text(Gid{{0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0}}), "1:0:1:1:1:1:1:0");
  EXPECT_EQ(address_text(Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}), "fe80::");
  EXPECT_EQ(address_text(Gid::from_ipv4(0xC6120002)), "198.18.0.2");
}

TEST(Format, SyndromesAreSpelledOut) {
  EXPECT_EQ(syndrome_text(0x1F), "ACK");
  EXPECT_EQ(syndrome_text(0x04), "ACK credits 4");
  EXPECT_EQ(syndrome_text(0x2C), "RNR NAK timer 12");
  EXPECT_EQ(syndrome_text(0x60), "NAK PSN sequence");
  EXPECT_EQ(syndrome_text(0x61), "NAK invalid request");
  EXPECT_EQ(syndrome_text(0x62), "NAK remote access");
  EXPECT_EQ(syndrome_text(0x63), "NAK remote operational");
  EXPECT_EQ(syndrome_text(0x6F), "syndrome 0x6f");
  EXPECT_EQ(syndrome_text(0x45), "syndrome 0x45");
}

TEST(Format, CreditCodesCountReceives) {
  constexpr uint32_t kCredits[] = {
      0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
      256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
  for (uint8_t code = 0; code < std::size(kCredits); ++code) {
    EXPECT_EQ(credits_of(code), kCredits[code]) << int{code};
  }
}

TEST(Format, LinkFramesHaveShortLines) {
  uint8_t room[256];
  const auto text = [&](uint32_t length) { return line_of({room, length}); };
  const uint32_t a = 0x0A000001;
  const uint32_t b = 0x0A000002;
  EXPECT_EQ(text(build_arp(room, {}, {ArpMessage::kRequest, testing::kMacA, a, {}, b})),
            "ARP who has 10.0.0.2, tell 10.0.0.1");
  EXPECT_EQ(text(build_arp(room, {}, {ArpMessage::kReply, testing::kMacB, b, {}, a})),
            "ARP 10.0.0.2 is at 02:00:00:00:00:0b");
  IpFields ip;
  ip.source = Gid::from_ipv4(a);
  ip.destination = Gid::from_ipv4(b);
  IcmpMessage echo;
  echo.kind = IcmpKind::kEchoRequest;
  echo.echo_id = 7;
  echo.echo_sequence = 8;
  EXPECT_EQ(text(build_icmp(room, {}, ip, echo)),
            "10.0.0.1 > 10.0.0.2 ICMP echo request id 7 sequence 8");
  NdMessage nd;
  nd.source = Gid{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  nd.target = Gid{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  nd.destination = solicited_node(nd.target);
  nd.has_link_address = true;
  nd.link_address = testing::kMacA;
  EXPECT_EQ(text(build_nd(room, {}, nd)),
            "fe80::1 > ff02::1:ff00:2 ND who has fd00::2 from 02:00:00:00:00:0a");
  MembershipMessage report;
  report.kind = MembershipKind::kRecordReport;
  const GroupRecord record{RecordType::kChangeToExclude, Gid::from_ipv4(0xEF010203), {}};
  EXPECT_EQ(text(build_igmp(room, {}, a, report, {&record, 1})),
            "10.0.0.1 > 224.0.0.22 IGMPv3 report, 1 record: to-exclude 239.1.2.3");
  MembershipMessage query;
  query.version = 2;
  query.max_response_ms = 10000;
  EXPECT_EQ(text(build_mld(room, {}, nd.source, query, {})),
            "fe80::1 > ff02::1 MLDv2 query all groups within 10000 ms");
}

TEST(Format, DamagedLinkFramesAreRefusedByName) {
  uint8_t room[256];
  const uint32_t length = build_igmp(room, {}, 1, {}, {});
  room[length - 1] ^= 1;
  EXPECT_EQ(line_of({room, length}),
            "IGMP refused igmp_checksum: wrong checksum of an IGMP message");
}

TEST(Format, AShortBufferIsFilledAndTheWholeLengthSaid) {
  const std::vector<uint8_t> frame = frame_of(testing::kV1);
  const std::string whole = line_of(frame);
  for (size_t capacity = 0; capacity <= whole.size() + 1; ++capacity) {
    std::vector<char> buffer(capacity + 1, '#');
    EXPECT_EQ(format_frame(buffer.data(), capacity, frame, {}), whole.size());
    EXPECT_EQ(buffer[capacity], '#') << "written behind the buffer";
    if (capacity != 0) {
      EXPECT_EQ(std::string(buffer.data()), whole.substr(0, capacity - 1));
    }
  }
}

TEST(Format, EveryOpcodeFitsALine) {
  Random random(30);
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& info = opcode_info(static_cast<uint8_t>(opcode));
    if (!info.known) continue;
    std::vector<uint8_t> frame(400, 0xff);
    AddressFields address;
    address.sgid = address.dgid = random.ipv6();
    address.vlan = true;
    const HeaderTemplate t = make_header_template(address);
    Bth bth;
    bth.opcode = static_cast<Opcode>(opcode);
    bth.dest_qpn = kGsiQpn;
    bth.pkey = 1;
    bth.solicited = bth.fecn = bth.becn = bth.ack_request = true;
    std::vector<uint8_t> payload = random.bytes(32);
    payload[0] = 1;
    uint8_t* at = emit_headers(frame.data(), t, ib_length(bth.opcode, 32), 0);
    bth.store(at);
    std::copy(payload.begin(), payload.end(), at + info.header_bytes);
    frame.resize(finish_icrc(frame.data(), t.l3_offset, true, t.length + info.header_bytes + 32u));
    const std::string line = line_of(frame);
    EXPECT_NE(line.find(info.name), std::string::npos);
    EXPECT_NE(line.find("MAD class"), std::string::npos);
  }
}

}  // namespace
}  // namespace uroce::wire
