// SPDX-License-Identifier: BSD-3-Clause
// The steps of parsing a RoCEv2 packet, and the short way through them for the frame that nearly
// all are.
//
// Every length is checked by comparison before it is subtracted from another, outermost first: the
// frame holds the IP packet, the IP packet holds exactly the UDP datagram, the datagram holds the
// headers that the opcode's row names, its pad and the ICRC. Only then is the payload length taken.
//
// The steps are always inlined: where the layout is known beforehand, half of the work is, too.
#ifndef UROCE_WIRE_PARSE_PLAIN_H
#define UROCE_WIRE_PARSE_PLAIN_H

#include <cstdint>
#include <span>

#include "wire/checksum.h"
#include "wire/parse.h"

namespace uroce::wire {

// The frame that nearly all are, by a look at the words that decide it: untagged, IPv4 without
// options and not a fragment, UDP to RoCE's port. classify() would say the same, more slowly.
inline bool is_plain_roce(std::span<const uint8_t> frame, const ParseOptions& options) {
  constexpr uint32_t kL4 = kEthernetBytes + kIpv4Bytes;
  if (frame.size() < kL4 + kUdpBytes || options.vlan_id != kVlanNone || options.vlan_stripped) {
    return false;
  }
  const uint8_t* bytes = frame.data();
  return load_be32(bytes + 12) >> 8 == (uint32_t{kEthertypeIpv4} << 8 | 0x45) &&
         (load_be16(bytes + kEthernetBytes + 6) & 0x3FFF) == 0 &&
         bytes[kEthernetBytes + 9] == kProtocolUdp && load_be16(bytes + kL4 + 2) == kRoceUdpPort;
}

namespace parse_steps {

// Where the headers of a frame lie.
struct Layout {
  uint32_t l3_offset;
  uint32_t l4_offset;
  bool ipv6;
};

// True when the IPv4 header checksum holds, or need not be looked at.
[[gnu::always_inline]] inline bool ipv4_checksum_fits(const uint8_t* l3, uint32_t header,
                                                      ChecksumVerdict verdict) {
  if (verdict == ChecksumVerdict::kUnknown) return checksum_good(checksum_add(0, l3, header));
  return verdict != ChecksumVerdict::kBad;
}

// True when the UDP checksum is absent, holds, or need not be looked at.
inline bool udp_checksum_fits(const uint8_t* l3, bool ipv6, const uint8_t* udp, uint32_t udp_bytes,
                              ChecksumVerdict verdict) {
  if (load_raw<uint16_t>(udp + 6) == 0) return true;
  if (verdict == ChecksumVerdict::kIgnore || verdict == ChecksumVerdict::kGood) return true;
  if (verdict == ChecksumVerdict::kBad) return false;
  const uint64_t pseudo =
      pseudo_header_sum(l3 + (ipv6 ? 8 : 12), ipv6 ? 32 : 8, kProtocolUdp, udp_bytes);
  return checksum_good(checksum_add(pseudo, udp, udp_bytes));
}

// The IP header's own checks. `ip_length` gets the length of the whole IP packet.
[[gnu::always_inline]] inline Drop check_ip_header(std::span<const uint8_t> frame,
                                                   const Layout& layout,
                                                   const ParseOptions& options,
                                                   uint32_t& ip_length) {
  const uint8_t* l3 = frame.data() + layout.l3_offset;
  const auto available = static_cast<uint32_t>(frame.size()) - layout.l3_offset;
  const uint32_t header = layout.l4_offset - layout.l3_offset;
  if (layout.ipv6) {
    ip_length = kIpv6Bytes + load_be16(l3 + 4);
  } else {
    if (!ipv4_checksum_fits(l3, header, options.ip_checksum)) return Drop::kIpChecksum;
    ip_length = load_be16(l3 + 2);
  }
  if (ip_length < header) return Drop::kIpLength;
  if (ip_length > available) return Drop::kFrameCut;
  return Drop::kNone;
}

// BTH, extension headers and pad against the length of the datagram's content.
[[gnu::always_inline]] inline Drop parse_transport(const uint8_t* bth, uint32_t ib_bytes,
                                                   ParsedFrame& out) {
  if (ib_bytes < kBthBytes) return Drop::kBthShort;
  if ((bth[1] & 0x0F) != 0) return Drop::kBthVersion;
  const OpcodeInfo& info = opcode_info(bth[0]);
  if (!info.known) return Drop::kOpcodeUnknown;
  const uint32_t pad = bth[1] >> 4 & 3;
  const uint32_t fixed = info.header_bytes + kIcrcBytes;
  if (ib_bytes < fixed) return Drop::kHeaderShort;
  if (ib_bytes < fixed + pad) return Drop::kPad;
  if (ib_bytes % 4 != 0) return Drop::kPayloadAlignment;
  out.bth = bth;
  out.info = &info;
  out.opcode = static_cast<Opcode>(bth[0]);
  out.pad = static_cast<uint8_t>(pad);
  out.pkey = load_be16(bth + 2);
  out.dest_qpn = Qpn(load_be32(bth + 4));
  out.psn = Psn(load_be32(bth + 8));
  out.payload = bth + info.header_bytes;
  out.payload_length = ib_bytes - fixed - pad;
  return Drop::kNone;
}

// Everything but the VLAN.
[[gnu::always_inline]] inline Drop parse_at(std::span<const uint8_t> frame, const Layout& layout,
                                            const ParseOptions& options, ParsedFrame& out) {
  const uint8_t* l3 = frame.data() + layout.l3_offset;
  uint32_t ip_length = 0;
  const Drop drop = check_ip_header(frame, layout, options, ip_length);
  if (drop != Drop::kNone) return drop;
  const uint32_t header = layout.l4_offset - layout.l3_offset;
  if (!layout.ipv6 && header != kIpv4Bytes) return Drop::kIpOptions;
  const uint32_t udp_bytes = ip_length - header;
  if (udp_bytes < kUdpBytes) return Drop::kIpLength;
  const uint8_t* udp = l3 + header;
  if (load_be16(udp + 4) != udp_bytes) return Drop::kUdpLength;
  if (!udp_checksum_fits(l3, layout.ipv6, udp, udp_bytes, options.udp_checksum)) {
    return Drop::kUdpChecksum;
  }
  out.frame = frame.data();
  out.l3_offset = layout.l3_offset;
  out.ip_length = ip_length;
  out.ipv6 = layout.ipv6;
  return parse_transport(udp + kUdpBytes, udp_bytes - kUdpBytes, out);
}

}  // namespace parse_steps

// parse_roce() for a frame for which is_plain_roce() holds.
inline Drop parse_plain_roce(std::span<const uint8_t> frame, const ParseOptions& options,
                             ParsedFrame& out) {
  constexpr parse_steps::Layout kPlain{kEthernetBytes, kEthernetBytes + kIpv4Bytes, false};
  out.has_vlan = false;
  out.vlan_tci = 0;
  return parse_steps::parse_at(frame, kPlain, options, out);
}

}  // namespace uroce::wire

#endif  // UROCE_WIRE_PARSE_PLAIN_H
