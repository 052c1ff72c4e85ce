// SPDX-License-Identifier: BSD-3-Clause
// Frames as lines: the text of known packets, refusals by name, and buffers too small.
#include "wire/format.h"

#include <gtest/gtest.h>

#include <string>

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
  for (size_t code = 0; code < std::size(kCredits); ++code) {
    EXPECT_EQ(credits_of(static_cast<uint8_t>(code)), kCredits[code]) << code;
  }
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
