// SPDX-License-Identifier: BSD-3-Clause
// Packets that tests begin from: V1 to V5 of the field cases, and helpers to make frames of them.
#ifndef UROCE_WIRE_TEST_PACKETS_H
#define UROCE_WIRE_TEST_PACKETS_H

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/checksum.h"
#include "wire/emit.h"
#include "wire/parse.h"

namespace uroce::wire::testing {

// RC SEND ONLY, IPv4, 8 bytes "uroce-01", QPN 0x11, PSN 1, AckReq, MigReq.
inline constexpr std::string_view kV1 =
    "4500003400004000401126b70a0000010a000002c00012b7002000000440ffff0000001180000001"
    "75726f63652d3031a8901089";
// RC SEND ONLY, IPv4, 5 bytes "uroce" and 3 of pad, PSN 2.
inline constexpr std::string_view kV2 =
    "4500003400004000401126b70a0000010a000002c00012b7002000000470ffff0000001180000002"
    "75726f63650000000902563b";
// UD SEND ONLY, IPv6, 4 bytes "ping", QPN 0x12, Q_Key 0x11111111, source QPN 0x13, PSN 3.
inline constexpr std::string_view kV3 =
    "6001234500241140fd000000000000000000000000000001fd000000000000000000000000000002"
    "c00112b7002400006440ffff0000001200000003111111110000001370696e67a605524b";
// CNP, IPv4, QPN 0x14, BECN, MigReq 0.
inline constexpr std::string_view kV4 =
    "45c0003c00004000401125ef0a0000020a000001c00012b7002800008100ffff4000001400000000"
    "000000000000000000000000000000007ee2cc12";
// RC SEND ONLY, IPv4, no payload, PSN 0xFFFFFF, AckReq.
inline constexpr std::string_view kV5 =
    "4500002c00004000401126bf0a0000010a000002c00012b7001800000440ffff0000001180ffffff4c55ecdf";

inline constexpr MacAddress kMacA{{0x02, 0, 0, 0, 0, 0x0a}};
inline constexpr MacAddress kMacB{{0x02, 0, 0, 0, 0, 0x0b}};
inline constexpr uint32_t kL3 = kEthernetBytes;

inline std::vector<uint8_t> from_hex(std::string_view hex) {
  std::vector<uint8_t> bytes;
  const auto digit = [](char c) {
    return static_cast<uint8_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  };
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    if (hex[i] == ' ') {
      --i;
      continue;
    }
    bytes.push_back(static_cast<uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return bytes;
}

// An Ethernet frame around a packet that begins with its IP header.
inline std::vector<uint8_t> frame_of(std::string_view ip_packet_hex) {
  const std::vector<uint8_t> packet = from_hex(ip_packet_hex);
  std::vector<uint8_t> frame(kEthernetBytes + packet.size());
  const EthernetFields ethernet{kMacA, kMacB, false, 0};
  store_ethernet(frame.data(), ethernet, packet[0] >> 4 == 4 ? kEthertypeIpv4 : kEthertypeIpv6);
  std::copy(packet.begin(), packet.end(), frame.begin() + kEthernetBytes);
  return frame;
}

// Makes the IPv4 header checksum of an untagged frame right again.
inline void fix_ip_checksum(std::vector<uint8_t>& frame) {
  uint8_t* l3 = frame.data() + kL3;
  store_be16(l3 + 10, 0);
  store_checksum(l3 + 10, checksum_add(0, l3, kIpv4Bytes));
}

// Makes the ICRC of an untagged frame without trailer right again.
inline void fix_icrc(std::vector<uint8_t>& frame) {
  const bool ipv6 = frame[kL3] >> 4 == 6;
  const auto covered = static_cast<uint32_t>(frame.size()) - kL3 - kIcrcBytes;
  store_icrc(frame.data() + frame.size() - kIcrcBytes, icrc(frame.data() + kL3, ipv6, covered));
}

inline Drop parse(const std::vector<uint8_t>& frame, ParsedFrame& out) {
  return parse_roce(frame, ParseOptions{}, out);
}

// The whole verdict on a frame as the engine gives it: parse, then ICRC.
inline Drop judge(const std::vector<uint8_t>& frame) {
  ParsedFrame packet;
  const Drop drop = parse(frame, packet);
  if (drop != Drop::kNone) return drop;
  return icrc_ok(packet) ? Drop::kNone : Drop::kIcrc;
}

// Random values for property tests: same seed, same values.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // SplitMix64: a counter, well mixed.
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(next() % limit); }
  bool coin() { return (next() & 1) != 0; }
  uint8_t byte() { return static_cast<uint8_t>(next()); }
  uint16_t word() { return static_cast<uint16_t>(next()); }
  uint32_t quad() { return static_cast<uint32_t>(next()); }
  std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> result(n);
    for (uint8_t& value : result) value = byte();
    return result;
  }
  MacAddress mac() {
    MacAddress result;
    for (uint8_t& value : result.bytes) value = byte();
    result.bytes[0] &= 0xfe;
    return result;
  }
  Gid ipv4() { return Gid::from_ipv4(0x0A000000 | below(1 << 24)); }
  Gid ipv6() {
    Gid gid;
    for (uint8_t& value : gid.bytes) value = byte();
    gid.bytes[0] = 0xfd;
    return gid;
  }
  Gid link_local() {
    Gid gid = ipv6();
    gid.bytes[0] = 0xfe;
    gid.bytes[1] = 0x80;
    return gid;
  }
  Gid ipv4_group() { return Gid::from_ipv4(0xE8000000 | below(1 << 24)); }
  Gid ipv6_group() {
    Gid gid = ipv6();
    gid.bytes[0] = 0xff;
    gid.bytes[1] = 0x0e;
    return gid;
  }
  Bth bth() {
    Bth result;
    result.opcode = static_cast<Opcode>(byte());
    result.solicited = coin();
    result.mig_req = coin();
    result.pad = static_cast<uint8_t>(below(4));
    result.version = static_cast<uint8_t>(below(16));
    result.pkey = word();
    result.fecn = coin();
    result.becn = coin();
    result.dest_qpn = Qpn(quad());
    result.ack_request = coin();
    result.psn = Psn(quad());
    return result;
  }
  EthernetFields ethernet() { return {mac(), mac(), coin(), static_cast<uint16_t>(below(4096))}; }

 private:
  uint64_t state_;
};

// Options that accept the VLAN a random frame has.
inline ParseOptions any_vlan() {
  ParseOptions options;
  options.vlan_id = kVlanAny;
  return options;
}

}  // namespace uroce::wire::testing

#endif  // UROCE_WIRE_TEST_PACKETS_H
