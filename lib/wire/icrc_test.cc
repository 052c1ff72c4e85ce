// SPDX-License-Identifier: BSD-3-Clause
// The ICRC: known packets, what is masked and what is not, and the ways of taking it in pieces.
#include "wire/icrc.h"

#include <gtest/gtest.h>

#include "wire/crc32_fold.h"
#include "wire/test_packets.h"

namespace uroce::wire {
namespace {

using testing::fix_ip_checksum;
using testing::frame_of;
using testing::from_hex;
using testing::judge;
using testing::kL3;
using testing::Random;

// A plain bit-by-bit CRC-32 over masked bytes: nothing shared with the code under test.
uint32_t reference_icrc(std::vector<uint8_t> packet) {
  const bool ipv6 = packet[0] >> 4 == 6;
  const size_t udp = ipv6 ? 40 : 20;
  if (ipv6) {
    packet[0] |= 0x0f;
    packet[1] = packet[2] = packet[3] = packet[7] = 0xff;
  } else {
    packet[1] = packet[8] = packet[10] = packet[11] = 0xff;
  }
  packet[udp + 6] = packet[udp + 7] = packet[udp + 8 + 4] = 0xff;
  packet.insert(packet.begin(), 8, 0xff);
  uint32_t crc = 0xFFFFFFFF;
  for (const uint8_t byte : packet) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

std::vector<uint8_t> icrc_bytes(const std::vector<uint8_t>& packet_without_icrc) {
  std::vector<uint8_t> bytes(4);
  const auto covered = static_cast<uint32_t>(packet_without_icrc.size());
  store_icrc(bytes.data(),
             icrc(packet_without_icrc.data(), packet_without_icrc[0] >> 4 == 6, covered));
  return bytes;
}

TEST(Icrc, Ic01CnpOfAConnectX4) {
  EXPECT_EQ(icrc_bytes(from_hex("45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff"
                                "400001180000000000000000000000000000000000000000")),
            from_hex("82fd002a"));
}

TEST(Icrc, Ic02RcSendOnlyIpv4) {
  EXPECT_EQ(icrc_bytes(from_hex("4500003c00004000401126af0a0000010a000002c00012b7002800000400ffff"
                                "000000118012345675726f63652d696372632d7465737421")),
            from_hex("80417c0b"));
}

TEST(Icrc, Ic03RcSendOnlyIpv6) {
  EXPECT_EQ(icrc_bytes(from_hex("600000000028114020010db8000000000000000000000001"
                                "20010db8000000000000000000000002c00012b7002800000400ffff"
                                "000000118012345675726f63652d696372632d7465737421")),
            from_hex("02719b3b"));
}

TEST(Icrc, Ic06RcAckOfANic) {
  EXPECT_EQ(icrc_bytes(from_hex("450200309d4e4000401119e4c0aa0102c0aa0132fa4f12b7001c0000"
                                "1140ffff00deaded00cf7bf700000002")),
            from_hex("59caeaf7"));
}

TEST(Icrc, BasePacketsV1ToV5Verify) {
  for (const std::string_view packet :
       {testing::kV1, testing::kV2, testing::kV3, testing::kV4, testing::kV5}) {
    EXPECT_EQ(judge(frame_of(packet)), Drop::kNone) << packet;
  }
}

TEST(Icrc, Ic04MaskedFieldsDoNotMatter) {
  std::vector<uint8_t> packet = from_hex(testing::kV1);
  packet.resize(packet.size() - 4);
  const std::vector<uint8_t> before = icrc_bytes(packet);
  for (const size_t offset : {1u, 8u, 10u, 11u, 26u, 27u, 32u}) {
    std::vector<uint8_t> changed = packet;
    changed[offset] ^= 0xC0;
    EXPECT_EQ(icrc_bytes(changed), before) << offset;
  }
  packet = from_hex(testing::kV3);
  packet.resize(packet.size() - 4);
  const std::vector<uint8_t> before6 = icrc_bytes(packet);
  for (const size_t offset : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) {
    std::vector<uint8_t> changed = packet;
    changed[offset] ^= 0xC3;
    EXPECT_EQ(icrc_bytes(changed), before6) << offset;
  }
}

TEST(Icrc, Ic05EveryOtherByteMatters) {
  for (const std::string_view text : {testing::kV1, testing::kV2, testing::kV3}) {
    std::vector<uint8_t> packet = from_hex(text);
    packet.resize(packet.size() - 4);
    const bool ipv6 = packet[0] >> 4 == 6;
    const std::vector<uint8_t> before = icrc_bytes(packet);
    for (size_t offset = 1; offset < packet.size(); ++offset) {
      const bool masked4 = offset == 1 || offset == 8 || offset == 10 || offset == 11 ||
                           offset == 26 || offset == 27 || offset == 32;
      const bool masked6 =
          offset <= 3 || offset == 7 || offset == 46 || offset == 47 || offset == 52;
      if (ipv6 ? masked6 : masked4) continue;
      std::vector<uint8_t> changed = packet;
      changed[offset] ^= 0x10;
      EXPECT_NE(icrc_bytes(changed), before) << offset;
    }
  }
}

TEST(Icrc, Case1OurSenderReproducesV1BitForBit) {
  AddressFields address;
  address.source = testing::kMacA;
  address.destination = testing::kMacB;
  address.sgid = Gid::from_ipv4(0x0A000001);
  address.dgid = Gid::from_ipv4(0x0A000002);
  address.udp_source_port = 0xC000;
  const HeaderTemplate t = make_header_template(address);
  std::vector<uint8_t> room(256, 0xEE);
  Bth bth;
  bth.opcode = Opcode::kRcSendOnly;
  bth.dest_qpn = Qpn(0x11);
  bth.ack_request = true;
  bth.psn = Psn(1);
  bth.store(emit_headers(room.data(), t, ib_length(bth.opcode, 8), 0));
  std::memcpy(room.data() + t.length + 12, "uroce-01", 8);
  room.resize(finish_icrc(room.data(), t.l3_offset, t.ipv6, t.length + 20u));
  EXPECT_EQ(room, frame_of(testing::kV1));

  // Another identification, and no DF: both are covered.
  room[kL3 + 5] = 7;
  fix_ip_checksum(room);
  EXPECT_EQ(judge(room), Drop::kIcrc);
  room[kL3 + 6] = 0;
  fix_ip_checksum(room);
  testing::fix_icrc(room);
  EXPECT_EQ(judge(room), Drop::kNone);
  EXPECT_EQ(icrc(room.data() + kL3, false, 48),
            reference_icrc({room.begin() + kL3, room.end() - 4}));
}

TEST(Icrc, Case2Ipv6MasksClassLabelAndHopLimitOnly) {
  std::vector<uint8_t> frame = frame_of(testing::kV3);
  ASSERT_EQ(judge(frame), Drop::kNone);
  std::vector<uint8_t> changed = frame;
  changed[kL3] = 0x60;
  changed[kL3 + 1] = 0x21;  // class 0x02
  EXPECT_EQ(judge(changed), Drop::kNone);
  changed = frame;
  changed[kL3 + 1] = changed[kL3 + 2] = changed[kL3 + 3] = 0;  // label 0
  EXPECT_EQ(judge(changed), Drop::kNone);
  changed = frame;
  changed[kL3 + 7] = 1;  // hop limit
  EXPECT_EQ(judge(changed), Drop::kNone);
  changed = frame;
  changed[kL3 + 39] ^= 1;  // destination address
  EXPECT_EQ(judge(changed), Drop::kIcrc);
  changed = frame;
  changed[kL3 + 5] = static_cast<uint8_t>(changed[kL3 + 5] - 4);
  EXPECT_EQ(judge(changed), Drop::kUdpLength);
}

TEST(Icrc, Case4DevicesOnThePathMayChangeWhatIsMaskedAndNothingElse) {
  const std::vector<uint8_t> frame = frame_of(testing::kV1);
  const auto with = [&](size_t offset, uint8_t flip) {
    std::vector<uint8_t> changed = frame;
    changed[kL3 + offset] ^= flip;
    fix_ip_checksum(changed);
    return judge(changed);
  };
  EXPECT_EQ(with(1, 0x03), Drop::kNone);   // TOS
  EXPECT_EQ(with(8, 0x41), Drop::kNone);   // TTL 1
  EXPECT_EQ(with(32, 0x80), Drop::kNone);  // FECN
  EXPECT_EQ(with(32, 0x40), Drop::kNone);  // BECN
  EXPECT_EQ(with(5, 0x07), Drop::kIcrc);   // identification
  EXPECT_EQ(with(6, 0x40), Drop::kIcrc);   // DF
  EXPECT_EQ(with(21, 0x01), Drop::kIcrc);  // UDP source port
  EXPECT_EQ(with(35, 0x03), Drop::kIcrc);  // destination QPN
  EXPECT_EQ(with(36, 0x80), Drop::kIcrc);  // AckReq
  EXPECT_EQ(with(39, 0x02), Drop::kIcrc);  // PSN
  EXPECT_EQ(with(44, 0x04), Drop::kIcrc);  // payload
  EXPECT_EQ(with(48, 0x01), Drop::kIcrc);  // the ICRC itself
}

TEST(Icrc, RandomPacketsOfEveryLengthAgreeWithABitwiseCrc) {
  Random random(4);
  for (uint32_t payload = 0; payload < 300; ++payload) {
    for (const bool ipv6 : {false, true}) {
      std::vector<uint8_t> packet = random.bytes((ipv6 ? 60 : 40) + payload);
      packet[0] = ipv6 ? 0x60 : 0x45;
      EXPECT_EQ(icrc(packet.data(), ipv6, static_cast<uint32_t>(packet.size())),
                reference_icrc(packet))
          << payload << (ipv6 ? " IPv6" : " IPv4");
    }
  }
}

TEST(Icrc, PiecesAndCopiesGiveTheSameValue) {
  Random random(5);
  for (const size_t payload : {0u, 1u, 16u, 255u, 4096u, 8192u, 8193u, 20000u}) {
    std::vector<uint8_t> packet = random.bytes(40 + payload);
    packet[0] = 0x45;
    const uint32_t whole = icrc(packet.data(), false, static_cast<uint32_t>(packet.size()));
    const IcrcState begun = icrc_begin(packet.data(), false);
    const size_t cut = payload / 3;
    const IcrcState part = icrc_update(begun, packet.data() + 40, cut);
    EXPECT_EQ(icrc_value(icrc_update(part, packet.data() + 40 + cut, payload - cut)), whole);
    std::vector<uint8_t> copy(payload + 2, 0x55);
    EXPECT_EQ(icrc_value(icrc_copy(begun, copy.data() + 1, packet.data() + 40, payload)), whole);
    EXPECT_TRUE(std::equal(copy.begin() + 1, copy.end() - 1, packet.begin() + 40));
    EXPECT_EQ(copy.front(), 0x55);
    EXPECT_EQ(copy.back(), 0x55);
    std::fill(copy.begin(), copy.end(), uint8_t{0});
    EXPECT_EQ(icrc_value(icrc_copy_received(begun, copy.data(), packet.data() + 40, payload)),
              whole);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end() - 2, packet.begin() + 40));
  }
}

TEST(Icrc, ACpuWithoutCarryLessMultiplicationGetsTheSameValues) {
  Random random(34);
  const bool before = fold_enabled;
  for (uint32_t payload = 0; payload < 300; ++payload) {
    for (const bool ipv6 : {false, true}) {
      const uint32_t headers = ipv6 ? 60 : 40;
      std::vector<uint8_t> packet = random.bytes(headers + payload);
      packet[0] = ipv6 ? 0x60 : 0x45;
      const auto bytes = static_cast<uint32_t>(packet.size());
      const uint32_t value = icrc(packet.data(), ipv6, bytes);
      fold_enabled = false;
      EXPECT_EQ(icrc(packet.data(), ipv6, bytes), value) << payload;
      std::vector<uint8_t> copy(payload);
      const IcrcState begun = icrc_begin(packet.data(), ipv6);
      EXPECT_EQ(icrc_value(icrc_copy(begun, copy.data(), packet.data() + headers, payload)), value);
      fold_enabled = before;
    }
  }
}

TEST(Icrc, ShortPiecesAgreeWithLongOnes) {
  Random random(31);
  const std::vector<uint8_t> data = random.bytes(64);
  const uint32_t whole = icrc_value(icrc_update({0x12345678}, data.data(), data.size()));
  for (size_t step = 1; step <= 40; ++step) {
    IcrcState state{0x12345678};
    for (size_t at = 0; at < data.size(); at += step) {
      state = icrc_update(state, data.data() + at, std::min(step, data.size() - at));
    }
    EXPECT_EQ(icrc_value(state), whole) << step;
  }
  EXPECT_EQ(icrc_value(icrc_update({7}, data.data(), 0)), 7u);
}

TEST(Icrc, TheStateAfterEightOnesIsTheKnownRegister) {
  // 0xDEBB20E3 before the final complement.
  EXPECT_EQ(kIcrcAfterOnes, ~0xDEBB20E3u);
  const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  EXPECT_EQ(icrc_value(icrc_update({0}, ones, sizeof ones)), kIcrcAfterOnes);
}

}  // namespace
}  // namespace uroce::wire
