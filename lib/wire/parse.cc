// SPDX-License-Identifier: BSD-3-Clause
// Parsing RoCEv2: IP and UDP headers verified, BTH fields unpacked, lengths checked.
//
// Every length is checked by comparison before it is subtracted from another, outermost first: the
// frame holds the IP packet, the IP packet holds exactly the UDP datagram, the datagram holds the
// headers that the opcode's row names, its pad and the ICRC. Only then is the payload length taken.
#include "wire/parse.h"

#include "wire/checksum.h"

namespace uroce::wire {
namespace {

// True when the IPv4 header checksum holds, or need not be looked at.
bool ipv4_checksum_fits(const uint8_t* l3, uint32_t header, ChecksumVerdict verdict) {
  if (verdict == ChecksumVerdict::kUnknown) return checksum_good(checksum_add(0, l3, header));
  return verdict != ChecksumVerdict::kBad;
}

// True when the UDP checksum is absent, holds, or need not be looked at.
bool udp_checksum_fits(const uint8_t* l3, bool ipv6, const uint8_t* udp, uint32_t udp_bytes,
                       ChecksumVerdict verdict) {
  if (verdict == ChecksumVerdict::kIgnore || verdict == ChecksumVerdict::kGood) return true;
  if (load_raw<uint16_t>(udp + 6) == 0) return true;
  if (verdict == ChecksumVerdict::kBad) return false;
  const uint64_t pseudo =
      pseudo_header_sum(l3 + (ipv6 ? 8 : 12), ipv6 ? 32 : 8, kProtocolUdp, udp_bytes);
  return checksum_good(checksum_add(pseudo, udp, udp_bytes));
}

// The IP header's own checks. `ip_length` gets the length of the whole IP packet.
Drop check_ip_header(std::span<const uint8_t> frame, const L3Info& info,
                     const ParseOptions& options, uint32_t& ip_length) {
  const uint8_t* l3 = frame.data() + info.l3_offset;
  const auto available = static_cast<uint32_t>(frame.size()) - info.l3_offset;
  const uint32_t header = info.l4_offset - info.l3_offset;
  if (info.ipv6) {
    ip_length = kIpv6Bytes + load_be16(l3 + 4);
  } else {
    if (!ipv4_checksum_fits(l3, header, options.ip_checksum)) return Drop::kIpChecksum;
    ip_length = load_be16(l3 + 2);
  }
  if (ip_length < header) return Drop::kIpLength;
  if (ip_length > available) return Drop::kFrameCut;
  return Drop::kNone;
}

void unpack_ip(const uint8_t* l3, bool ipv6, ParsedFrame& out) {
  out.ipv6 = ipv6;
  if (ipv6) {
    const uint32_t word = load_be32(l3);
    out.traffic_class = static_cast<uint8_t>(word >> 20);
    out.flow_label = word & 0xFFFFF;
    out.hop_limit = l3[7];
    out.source_ipv4 = 0;
    out.destination_ipv4 = 0;
  } else {
    out.traffic_class = l3[1];
    out.flow_label = 0;
    out.hop_limit = l3[8];
    out.source_ipv4 = load_be32(l3 + 12);
    out.destination_ipv4 = load_be32(l3 + 16);
  }
}

void unpack_bth(const uint8_t* bth, ParsedFrame& out) {
  const uint32_t word0 = load_be32(bth);
  const uint32_t word1 = load_be32(bth + 4);
  const uint32_t word2 = load_be32(bth + 8);
  out.bth = bth;
  out.opcode = static_cast<Opcode>(word0 >> 24);
  out.solicited = (word0 & 1u << 23) != 0;
  out.mig_req = (word0 & 1u << 22) != 0;
  out.pad = static_cast<uint8_t>(word0 >> 20 & 3);
  out.pkey = static_cast<uint16_t>(word0);
  out.fecn = word1 >> 31 != 0;
  out.becn = (word1 & 1u << 30) != 0;
  out.dest_qpn = Qpn(word1);
  out.ack_request = word2 >> 31 != 0;
  out.psn = Psn(word2);
}

// BTH, extension headers and pad against the length of the datagram's content.
Drop parse_transport(const uint8_t* bth, uint32_t ib_bytes, ParsedFrame& out) {
  if (ib_bytes < kBthBytes) return Drop::kBthShort;
  unpack_bth(bth, out);
  if ((bth[1] & 0x0F) != 0) return Drop::kBthVersion;
  out.info = &opcode_info(bth[0]);
  if (!out.info->known) return Drop::kOpcodeUnknown;
  const uint32_t fixed = out.info->header_bytes + kIcrcBytes;
  if (ib_bytes < fixed) return Drop::kHeaderShort;
  if (ib_bytes < fixed + out.pad) return Drop::kPad;
  if (ib_bytes % 4 != 0) return Drop::kPayloadAlignment;
  out.ib_bytes = ib_bytes;
  out.payload = bth + out.info->header_bytes;
  out.payload_length = ib_bytes - fixed - out.pad;
  return Drop::kNone;
}

}  // namespace

Drop parse_roce(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                ParsedFrame& out) {
  const uint8_t* l3 = frame.data() + info.l3_offset;
  if (const Drop drop = check_ip_header(frame, info, options, out.ip_length); drop != Drop::kNone) {
    return drop;
  }
  const uint32_t header = info.l4_offset - info.l3_offset;
  if (!info.ipv6 && header != kIpv4Bytes) return Drop::kIpOptions;
  const uint32_t udp_bytes = out.ip_length - header;
  if (udp_bytes < kUdpBytes) return Drop::kIpLength;
  const uint8_t* udp = l3 + header;
  if (load_be16(udp + 4) != udp_bytes) return Drop::kUdpLength;
  if (!udp_checksum_fits(l3, info.ipv6, udp, udp_bytes, options.udp_checksum)) {
    return Drop::kUdpChecksum;
  }
  out.frame = frame.data();
  out.l3_offset = info.l3_offset;
  out.has_vlan = info.has_vlan;
  out.vlan_tci = info.vlan_tci;
  out.udp_source_port = load_be16(udp);
  unpack_ip(l3, info.ipv6, out);
  return parse_transport(udp + kUdpBytes, udp_bytes - kUdpBytes, out);
}

Drop parse_roce(std::span<const uint8_t> frame, const ParseOptions& options, ParsedFrame& out) {
  L3Info info;
  if (classify(frame, options, info) != FrameKind::kRoce) return info.not_roce;
  return parse_roce(frame, info, options, out);
}

Drop check_ip(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
              std::span<const uint8_t>& payload) {
  uint32_t ip_length = 0;
  const Drop drop = check_ip_header(frame, info, options, ip_length);
  if (drop != Drop::kNone) return drop;
  payload = frame.subspan(info.l4_offset, ip_length - (info.l4_offset - info.l3_offset));
  return Drop::kNone;
}

}  // namespace uroce::wire
