// SPDX-License-Identifier: BSD-3-Clause
// Parsing RoCE: the field's hostile packets, each refused by name and never read past its end.
#include "wire/parse.h"

#include <gtest/gtest.h>

#include <memory>

#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::fix_icrc;
using testing::fix_ip_checksum;
using testing::frame_of;
using testing::kL3;
using testing::parse;
using testing::Random;

constexpr size_t kUdp4 = kL3 + 20;
constexpr size_t kBth4 = kL3 + 28;

// A frame around `ib_bytes` of BTH … ICRC that begin with this opcode and pad count.
std::vector<uint8_t> frame_with(uint8_t opcode, uint32_t ib_bytes, uint8_t pad, bool good_icrc) {
  AddressFields address;
  address.sgid = Gid::from_ipv4(0x0A000001);
  address.dgid = Gid::from_ipv4(0x0A000002);
  const HeaderTemplate t = make_header_template(address);
  std::vector<uint8_t> room(HeaderTemplate::kCapacity + ib_bytes);
  emit_headers(room.data(), t, ib_bytes, 0);
  room.resize(t.length + ib_bytes);
  std::vector<uint8_t> bth(12);
  Bth fields;
  fields.opcode = static_cast<Opcode>(opcode);
  fields.pad = pad;
  fields.dest_qpn = kMulticastQpn;
  fields.store(bth.data());
  std::fill(room.begin() + t.length, room.end(), uint8_t{0});
  std::copy_n(bth.begin(), std::min<size_t>(12, ib_bytes), room.begin() + t.length);
  if (good_icrc && ib_bytes >= 16) fix_icrc(room);
  return room;
}

// Judges a copy in an allocation of exactly its size, so that a sanitizer sees any byte read past
// the end.
Drop judge_exact(const std::vector<uint8_t>& frame) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[frame.size()]);
  std::copy(frame.begin(), frame.end(), exact.get());
  ParsedFrame packet;
  const Drop drop = parse_roce({exact.get(), frame.size()}, ParseOptions{}, packet);
  if (drop != Drop::kNone) return drop;
  return icrc_ok(packet) ? Drop::kNone : Drop::kIcrc;
}

TEST(Parse, V1GivesItsFields) {
  const std::vector<uint8_t> frame = frame_of(testing::kV1);
  ParsedFrame packet;
  ASSERT_EQ(parse(frame, packet), Drop::kNone);
  EXPECT_EQ(packet.opcode, Opcode::kRcSendOnly);
  EXPECT_EQ(packet.dest_qpn, Qpn(0x11));
  EXPECT_EQ(packet.psn, Psn(1));
  EXPECT_TRUE(packet.ack_request());
  EXPECT_TRUE(packet.mig_req());
  EXPECT_FALSE(packet.solicited());
  EXPECT_EQ(packet.pkey, 0xFFFF);
  EXPECT_EQ(packet.source(), Gid::from_ipv4(0x0A000001));
  EXPECT_EQ(packet.destination(), Gid::from_ipv4(0x0A000002));
  EXPECT_EQ(packet.udp_source_port(), 0xC000);
  EXPECT_EQ(packet.hop_limit(), 64);
  EXPECT_EQ(packet.ip_length, 52u);
  EXPECT_EQ(packet.ib_bytes(), 24u);
  EXPECT_EQ(packet.payload_length, 8u);
  EXPECT_EQ(std::memcmp(packet.payload, "uroce-01", 8), 0);
  EXPECT_EQ(packet.source_mac(), testing::kMacA);
  EXPECT_FALSE(packet.destination_is_multicast());
}

TEST(Parse, V2HasPadAndV3HasADeth) {
  const std::vector<uint8_t> padded = frame_of(testing::kV2);
  ParsedFrame packet;
  ASSERT_EQ(parse(padded, packet), Drop::kNone);
  EXPECT_EQ(packet.pad, 3);
  EXPECT_EQ(packet.payload_length, 5u);
  const std::vector<uint8_t> datagram = frame_of(testing::kV3);
  ASSERT_EQ(parse(datagram, packet), Drop::kNone);
  EXPECT_TRUE(packet.ipv6);
  EXPECT_EQ(packet.flow_label(), 0x12345u);
  EXPECT_EQ(packet.deth(), (Deth{0x11111111, Qpn(0x13)}));
}

TEST(Parse, Case7EveryOpcodeAndLengthIsJudgedWithoutReadingPastTheEnd) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo& info = opcode_info(static_cast<uint8_t>(opcode));
    for (uint32_t bytes = 0; bytes <= 80; ++bytes) {
      for (const bool good : {false, true}) {
        const Drop drop = judge_exact(frame_with(static_cast<uint8_t>(opcode), bytes, 0, good));
        Drop expected = good ? Drop::kNone : Drop::kIcrc;
        if (bytes % 4 != 0) expected = Drop::kPayloadAlignment;
        if (info.known && bytes < info.header_bytes + kIcrcBytes) expected = Drop::kHeaderShort;
        if (!info.known) expected = Drop::kOpcodeUnknown;
        if (bytes < kBthBytes) expected = Drop::kBthShort;
        ASSERT_EQ(drop_name(drop), drop_name(expected)) << opcode << " in " << bytes << " bytes";
      }
    }
  }
}

TEST(Parse, Case8PadIsJudgedBeforeAnyArithmetic) {
  for (uint32_t bytes = 0; bytes < 20; ++bytes) {
    for (uint8_t pad = 0; pad < 4; ++pad) {
      const Drop drop = judge_exact(frame_with(0x04, bytes, pad, true));
      if (bytes == 16 && pad == 0) {
        EXPECT_EQ(drop, Drop::kNone);
      } else {
        EXPECT_NE(drop, Drop::kNone) << bytes << " bytes, pad " << int{pad};
      }
    }
  }
  EXPECT_EQ(judge_exact(frame_with(0x04, 16, 3, true)), Drop::kPad);
  EXPECT_EQ(judge_exact(frame_with(0x0A, 12 + 16 + 4, 3, true)), Drop::kPad);
  EXPECT_EQ(judge_exact(frame_with(0x11, 16, 0, true)), Drop::kHeaderShort);
  EXPECT_EQ(judge_exact(frame_with(0x10, 16, 0, true)), Drop::kHeaderShort);
  EXPECT_EQ(judge_exact(frame_with(0x04, 20, 3, true)), Drop::kNone) << "one byte and three of pad";
}

TEST(Parse, Case10LengthsThatDoNotFitEachOtherAreRefused) {
  const std::vector<uint8_t> v1 = frame_of(testing::kV1);
  for (const uint32_t udp_length : {8u, 19u, 23u, 31u, 33u, 65535u}) {
    std::vector<uint8_t> frame = v1;
    store_be16(frame.data() + kUdp4 + 4, static_cast<uint16_t>(udp_length));
    EXPECT_EQ(judge_exact(frame), Drop::kUdpLength) << udp_length;
  }
  std::vector<uint8_t> v3 = frame_of(testing::kV3);
  store_be16(v3.data() + kL3 + 44, 65535);
  EXPECT_EQ(judge_exact(v3), Drop::kUdpLength);
  const auto with_total = [&](uint16_t total) {
    std::vector<uint8_t> frame = v1;
    store_be16(frame.data() + kL3 + 2, total);
    fix_ip_checksum(frame);
    return judge_exact(frame);
  };
  EXPECT_EQ(with_total(53), Drop::kFrameCut);
  EXPECT_EQ(with_total(65535), Drop::kFrameCut);
  EXPECT_EQ(with_total(27), Drop::kIpLength);
  EXPECT_EQ(with_total(19), Drop::kIpLength);
  EXPECT_EQ(with_total(0), Drop::kIpLength);
  EXPECT_EQ(with_total(51), Drop::kUdpLength);
  EXPECT_EQ(with_total(52), Drop::kNone);
}

TEST(Parse, Case10BytesBehindTheIpPacketAreIgnored) {
  for (const size_t trailer : {1u, 6u, 18u, 1000u}) {
    for (const std::string_view packet : {testing::kV1, testing::kV3, testing::kV5}) {
      std::vector<uint8_t> frame = frame_of(packet);
      frame.insert(frame.end(), trailer, 0x5A);
      EXPECT_EQ(judge_exact(frame), Drop::kNone);
    }
  }
}

TEST(Parse, Case11AnAtomicWithoutItsHeaderIsCutShort) {
  EXPECT_EQ(judge_exact(frame_with(0x13, 12 + 20 + 4, 0, true)), Drop::kHeaderShort);
  EXPECT_EQ(judge_exact(frame_with(0x14, 12 + 4, 0, true)), Drop::kHeaderShort);
  // A payload behind it is for the responder to refuse: it owes a NAK.
  const std::vector<uint8_t> frame = frame_with(0x14, 12 + 28 + 4 + 4, 0, true);
  ParsedFrame packet;
  ASSERT_EQ(parse(frame, packet), Drop::kNone);
  EXPECT_EQ(packet.payload_length, 4u);
}

TEST(Parse, EveryTruncationOfEveryBasePacketIsRefused) {
  for (const std::string_view text :
       {testing::kV1, testing::kV2, testing::kV3, testing::kV4, testing::kV5}) {
    const std::vector<uint8_t> whole = frame_of(text);
    for (size_t n = 0; n < whole.size(); ++n) {
      const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
      const Drop drop = judge_exact(cut);
      EXPECT_TRUE(drop == Drop::kEmptyFrame || drop == Drop::kFrameShort || drop == Drop::kFrameCut)
          << n << " " << drop_name(drop);
    }
  }
}

TEST(Parse, RandomDamageNeverReadsPastTheEndAndIsNeverTaken) {
  Random random(6);
  for (int i = 0; i < 50000; ++i) {
    const std::string_view text = random.coin() ? testing::kV1 : testing::kV3;
    std::vector<uint8_t> frame = frame_of(text);
    const size_t flips = 1 + random.below(4);
    for (size_t flip = 0; flip < flips; ++flip) {
      frame[random.below(static_cast<uint32_t>(frame.size()))] = random.byte();
    }
    if (random.below(4) == 0) frame.resize(random.below(static_cast<uint32_t>(frame.size()) + 1));
    const std::vector<uint8_t> whole = frame_of(text);
    const Drop drop = judge_exact(frame);
    if (drop != Drop::kNone) continue;
    // What is still taken differs at most in MAC addresses and masked fields.
    ASSERT_EQ(frame.size(), whole.size());
    const size_t payload = whole.size() - 12;
    EXPECT_TRUE(std::equal(frame.begin() + static_cast<ptrdiff_t>(payload), frame.end(),
                           whole.begin() + static_cast<ptrdiff_t>(payload)));
  }
}

// Case 91: another transport version.
TEST(Parse, VersionPortFragmentsAndOptionsHaveNames) {
  const std::vector<uint8_t> v1 = frame_of(testing::kV1);
  const auto with = [&](size_t offset, uint8_t value) {
    std::vector<uint8_t> frame = v1;
    frame[offset] = value;
    fix_ip_checksum(frame);
    return judge_exact(frame);
  };
  EXPECT_EQ(with(kBth4 + 1, 0x41), Drop::kBthVersion);
  EXPECT_EQ(with(kBth4, 0x1E), Drop::kOpcodeUnknown);
  EXPECT_EQ(with(kUdp4 + 3, 0xB8), Drop::kUdpPort);
  EXPECT_EQ(with(kL3 + 6, 0x20), Drop::kIpFragment) << "more fragments";
  EXPECT_EQ(with(kL3 + 7, 0x01), Drop::kIpFragment) << "fragment offset";
  EXPECT_EQ(with(kL3, 0x65), Drop::kIpVersion);
  EXPECT_EQ(with(kL3, 0x44), Drop::kIpHeader);
  EXPECT_EQ(with(kL3 + 9, 6), Drop::kIpProtocol);
  std::vector<uint8_t> frame = v1;
  frame[kL3 + 10] ^= 1;
  EXPECT_EQ(judge_exact(frame), Drop::kIpChecksum);
  // Four bytes of options, everything else right.
  frame = v1;
  frame.insert(frame.begin() + kUdp4, 4, uint8_t{1});
  frame[kL3] = 0x46;
  store_be16(frame.data() + kL3 + 2, 56);
  store_be16(frame.data() + kL3 + 10, 0);
  store_checksum(frame.data() + kL3 + 10, checksum_add(0, frame.data() + kL3, 24));
  EXPECT_EQ(judge_exact(frame), Drop::kIpOptions);
}

TEST(Parse, UdpChecksumIsVerifiedWhenThereIsOneAndSomebodyMustLook) {
  for (const std::string_view text : {testing::kV1, testing::kV3}) {
    std::vector<uint8_t> frame = frame_of(text);
    const bool ipv6 = frame[kL3] >> 4 == 6;
    uint8_t* l3 = frame.data() + kL3;
    uint8_t* udp = l3 + (ipv6 ? 40 : 20);
    const uint32_t udp_bytes = load_be16(udp + 4);
    const uint64_t pseudo = pseudo_header_sum(l3 + (ipv6 ? 8 : 12), ipv6 ? 32 : 8, 17, udp_bytes);
    store_checksum(udp + 6, checksum_add(pseudo, udp, udp_bytes));
    EXPECT_EQ(judge_exact(frame), Drop::kNone);
    udp[6] ^= 1;
    ParsedFrame packet;
    ParseOptions options;
    EXPECT_EQ(parse_roce(frame, options, packet), Drop::kUdpChecksum);
    options.udp_checksum = ChecksumVerdict::kIgnore;
    EXPECT_EQ(parse_roce(frame, options, packet), Drop::kNone);
    options.udp_checksum = ChecksumVerdict::kGood;
    EXPECT_EQ(parse_roce(frame, options, packet), Drop::kNone);
    options.udp_checksum = ChecksumVerdict::kBad;
    EXPECT_EQ(parse_roce(frame, options, packet), Drop::kUdpChecksum);
    store_be16(udp + 6, 0);
    EXPECT_EQ(parse_roce(frame, options, packet), Drop::kNone) << "no checksum, nothing is bad";
  }
}

TEST(Parse, TheIpChecksumVerdictOfThePortIsTaken) {
  std::vector<uint8_t> frame = frame_of(testing::kV1);
  ParsedFrame packet;
  ParseOptions options;
  options.ip_checksum = ChecksumVerdict::kBad;
  EXPECT_EQ(parse_roce(frame, options, packet), Drop::kIpChecksum);
  frame[kL3 + 10] ^= 0x40;
  options.ip_checksum = ChecksumVerdict::kGood;
  EXPECT_EQ(parse_roce(frame, options, packet), Drop::kNone);
}

TEST(Parse, MulticastDestinationsAreSeenInBothVersions) {
  std::vector<uint8_t> frame = frame_of(testing::kV1);
  frame[kL3 + 16] = 239;
  fix_ip_checksum(frame);
  ParsedFrame packet;
  ASSERT_EQ(parse(frame, packet), Drop::kNone);
  EXPECT_TRUE(packet.destination_is_multicast());
  EXPECT_TRUE(packet.destination_is(Gid::from_ipv4(0xEF000002)));
  frame = frame_of(testing::kV3);
  frame[kL3 + 24] = 0xff;
  ASSERT_EQ(parse(frame, packet), Drop::kNone);
  EXPECT_TRUE(packet.destination_is_multicast());
}

}  // namespace
}  // namespace uroce::wire
