// SPDX-License-Identifier: BSD-3-Clause
// ICMP and ICMPv6 echo and errors, to fields and back.
#include "wire/icmp.h"

#include "wire/checksum.h"

namespace uroce::wire {
namespace {

struct TypeAndCode {
  IcmpKind kind;
  uint8_t type4, code4;
  uint8_t type6, code6;
};

constexpr TypeAndCode kTypes[] = {
    {IcmpKind::kEchoRequest, 8, 0, 128, 0},
    {IcmpKind::kEchoReply, 0, 0, 129, 0},
    {IcmpKind::kPacketTooBig, 3, 4, 2, 0},
    {IcmpKind::kPortUnreachable, 3, 3, 1, 4},
};

IcmpKind kind_of(bool ipv6, uint8_t type, uint8_t code) {
  for (const TypeAndCode& row : kTypes) {
    if ((ipv6 ? row.type6 : row.type4) == type && (ipv6 ? row.code6 : row.code4) == code) {
      return row.kind;
    }
  }
  return IcmpKind::kOther;
}

}  // namespace

Drop parse_icmp(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                IcmpMessage& out) {
  std::span<const uint8_t> icmp;
  if (const Drop drop = check_ip(frame, info, options, icmp); drop != Drop::kNone) return drop;
  if (icmp.size() < kIcmpBytes) return Drop::kIcmpMalformed;
  const uint8_t* l3 = frame.data() + info.l3_offset;
  const bool intact = info.ipv6 ? icmpv6_checksum_good(l3, icmp)
                                : checksum_good(checksum_add(0, icmp.data(), icmp.size()));
  if (!intact) return Drop::kIcmpChecksum;
  out = {};
  out.ipv6 = info.ipv6;
  out.type = icmp[0];
  out.code = icmp[1];
  out.kind = kind_of(info.ipv6, out.type, out.code);
  if (out.kind == IcmpKind::kEchoRequest || out.kind == IcmpKind::kEchoReply) {
    out.echo_id = load_be16(icmp.data() + 4);
    out.echo_sequence = load_be16(icmp.data() + 6);
  } else if (out.kind == IcmpKind::kPacketTooBig) {
    out.mtu = info.ipv6 ? load_be32(icmp.data() + 4) : load_be16(icmp.data() + 6);
  }
  out.data = icmp.subspan(kIcmpBytes);
  out.source_mac = load_mac(frame.data() + 6);
  out.source = load_address(l3 + (info.ipv6 ? 8 : 12), info.ipv6);
  out.destination = load_address(l3 + (info.ipv6 ? 24 : 16), info.ipv6);
  return Drop::kNone;
}

uint32_t build_icmp(std::span<uint8_t> room, const EthernetFields& ethernet, const IpFields& ip,
                    const IcmpMessage& message) {
  const bool ipv6 = !ip.destination.is_ipv4();
  IpFields fields = ip;
  fields.protocol = ipv6 ? kProtocolIcmpv6 : kProtocolIcmp;
  const auto icmp_bytes = static_cast<uint32_t>(kIcmpBytes + message.data.size());
  const uint32_t at = store_headers(room, ethernet, fields, icmp_bytes);
  if (at == 0) return 0;
  uint8_t* icmp = room.data() + at;
  std::memset(icmp, 0, kIcmpBytes);
  icmp[0] = message.type;
  icmp[1] = message.code;
  for (const TypeAndCode& row : kTypes) {
    if (row.kind != message.kind) continue;
    icmp[0] = ipv6 ? row.type6 : row.type4;
    icmp[1] = ipv6 ? row.code6 : row.code4;
  }
  if (message.kind == IcmpKind::kEchoRequest || message.kind == IcmpKind::kEchoReply) {
    store_be16(icmp + 4, message.echo_id);
    store_be16(icmp + 6, message.echo_sequence);
  } else if (message.kind == IcmpKind::kPacketTooBig && ipv6) {
    store_be32(icmp + 4, message.mtu);
  } else if (message.kind == IcmpKind::kPacketTooBig) {
    store_be16(icmp + 6, static_cast<uint16_t>(message.mtu));
  }
  if (!message.data.empty()) {
    std::memcpy(icmp + kIcmpBytes, message.data.data(), message.data.size());
  }
  const uint64_t pseudo = ipv6 ? pseudo_header_sum(fields, icmp_bytes) : 0;
  store_checksum(icmp + 2, checksum_add(pseudo, icmp, icmp_bytes));
  return at + icmp_bytes;
}

}  // namespace uroce::wire
