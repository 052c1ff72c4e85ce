// SPDX-License-Identifier: BSD-3-Clause
// IGMP messages, to fields and back.
#include "wire/igmp.h"

#include <algorithm>

#include "wire/checksum.h"

namespace uroce::wire {
namespace {

constexpr uint8_t kTypeQuery = 0x11;
constexpr uint8_t kTypeReport1 = 0x12;
constexpr uint8_t kTypeReport2 = 0x16;
constexpr uint8_t kTypeLeave = 0x17;
constexpr uint8_t kTypeReport3 = 0x22;
constexpr uint32_t kFixedBytes = 8;
constexpr uint32_t kQuery3Bytes = 12;
constexpr uint32_t kAllHosts = 0xE0000001;
constexpr uint32_t kAllRouters = 0xE0000002;
constexpr uint32_t kReport3Routers = 0xE0000016;
constexpr uint32_t kTenthsVersion1 = 100;

Gid group_at(const uint8_t* from) {
  const uint32_t address = load_be32(from);
  return address == 0 ? Gid{} : Gid::from_ipv4(address);
}

Drop parse_query(std::span<const uint8_t> igmp, MembershipMessage& out) {
  out.kind = MembershipKind::kQuery;
  out.group = group_at(igmp.data() + 4);
  const uint8_t code = igmp[1];
  if (igmp.size() == kFixedBytes) {
    out.version = code == 0 ? 1 : 2;
    out.max_response_ms = (code == 0 ? kTenthsVersion1 : code) * 100;
    return Drop::kNone;
  }
  if (igmp.size() < kQuery3Bytes) return Drop::kIgmpMalformed;
  out.version = 3;
  out.max_response_ms = decode_time8(code) * 100;
  out.suppress_router = (igmp[8] & 8) != 0;
  out.robustness = igmp[8] & 7;
  out.query_interval_s = decode_time8(igmp[9]);
  const size_t source_bytes = load_be16(igmp.data() + 10) * size_t{4};
  if (igmp.size() < kQuery3Bytes + source_bytes) return Drop::kIgmpMalformed;
  out.sources = igmp.subspan(kQuery3Bytes, source_bytes);
  return Drop::kNone;
}

Drop parse_record_report(std::span<const uint8_t> igmp, MembershipMessage& out) {
  out.kind = MembershipKind::kRecordReport;
  out.version = 3;
  out.record_count = load_be16(igmp.data() + 6);
  out.records = igmp.subspan(kFixedBytes);
  return records_whole(out.records, false, out.record_count) ? Drop::kNone : Drop::kIgmpMalformed;
}

Drop parse_group_message(std::span<const uint8_t> igmp, MembershipMessage& out) {
  const bool leave = igmp[0] == kTypeLeave;
  out.kind = leave ? MembershipKind::kLeave : MembershipKind::kReport;
  out.version = igmp[0] == kTypeReport1 ? 1 : 2;
  out.group = group_at(igmp.data() + 4);
  return Drop::kNone;
}

// The type byte and destination of a message to be built.
struct Envelope {
  uint8_t type;
  uint32_t destination;
};

Envelope envelope_of(const MembershipMessage& message) {
  switch (message.kind) {
    case MembershipKind::kQuery:
      return {kTypeQuery, message.group.is_zero() ? kAllHosts : message.group.ipv4()};
    case MembershipKind::kReport:
      return {message.version == 1 ? kTypeReport1 : kTypeReport2, message.group.ipv4()};
    case MembershipKind::kLeave:
      return {kTypeLeave, kAllRouters};
    case MembershipKind::kRecordReport:
      break;
  }
  return {kTypeReport3, kReport3Routers};
}

uint32_t message_bytes(const MembershipMessage& message, std::span<const GroupRecord> records) {
  uint32_t bytes = kFixedBytes;
  if (message.kind == MembershipKind::kRecordReport) {
    for (const GroupRecord& record : records) bytes += record_bytes(record);
  } else if (message.kind == MembershipKind::kQuery && message.version == 3) {
    bytes = kQuery3Bytes + static_cast<uint32_t>(message.sources.size());
  }
  return bytes;
}

void store_query(uint8_t* igmp, const MembershipMessage& message) {
  const uint32_t tenths = message.max_response_ms / 100;
  if (message.version == 3) {
    igmp[1] = encode_time8(tenths);
    igmp[8] = static_cast<uint8_t>((message.suppress_router ? 8 : 0) | (message.robustness & 7));
    igmp[9] = encode_time8(message.query_interval_s);
    store_be16(igmp + 10, static_cast<uint16_t>(message.sources.size() / 4));
    if (!message.sources.empty()) {
      std::memcpy(igmp + kQuery3Bytes, message.sources.data(), message.sources.size());
    }
  } else if (message.version == 2) {
    igmp[1] = static_cast<uint8_t>(std::clamp<uint32_t>(tenths, 1, 255));
  }
}

}  // namespace

Drop parse_igmp(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                MembershipMessage& out) {
  std::span<const uint8_t> igmp;
  if (const Drop drop = check_ip(frame, info, options, igmp); drop != Drop::kNone) return drop;
  if (igmp.size() < kFixedBytes) return Drop::kIgmpMalformed;
  if (!checksum_good(checksum_add(0, igmp.data(), igmp.size()))) return Drop::kIgmpChecksum;
  out = {};
  const uint8_t* l3 = frame.data() + info.l3_offset;
  out.source = load_address(l3 + 12, false);
  out.destination = load_address(l3 + 16, false);
  switch (igmp[0]) {
    case kTypeQuery:
      return parse_query(igmp, out);
    case kTypeReport3:
      return parse_record_report(igmp, out);
    case kTypeReport1:
    case kTypeReport2:
    case kTypeLeave:
      return parse_group_message(igmp, out);
    default:
      return Drop::kIgmpMalformed;
  }
}

uint32_t build_igmp(std::span<uint8_t> room, const LinkSource& link, uint32_t source_ip,
                    const MembershipMessage& message, std::span<const GroupRecord> records) {
  const Envelope envelope = envelope_of(message);
  IpFields ip;
  ip.source = Gid::from_ipv4(source_ip);
  ip.destination = Gid::from_ipv4(envelope.destination);
  ip.protocol = kProtocolIgmp;
  ip.traffic_class = 0xC0;
  ip.hop_limit = 1;
  ip.router_alert = true;
  const uint32_t bytes = message_bytes(message, records);
  if (room.size() < kEthernetBytes + kVlanTagBytes + ip_header_bytes(ip) + bytes) return 0;
  const EthernetFields ethernet{link.mac, multicast_mac(ip.destination), link.vlan, link.vlan_tci};
  const uint32_t l3_offset = store_ethernet(room.data(), ethernet, kEthertypeIpv4);
  const uint32_t at = l3_offset + store_ip(room.data() + l3_offset, ip, bytes);
  uint8_t* igmp = room.data() + at;
  std::memset(igmp, 0, std::min(bytes, kQuery3Bytes));
  igmp[0] = envelope.type;
  if (message.kind == MembershipKind::kRecordReport) {
    store_be16(igmp + 6, static_cast<uint16_t>(records.size()));
    uint8_t* to = igmp + kFixedBytes;
    for (const GroupRecord& record : records) to += store_record(to, record);
  } else {
    store_be32(igmp + 4, message.group.is_zero() ? 0 : message.group.ipv4());
    if (message.kind == MembershipKind::kQuery) store_query(igmp, message);
  }
  store_checksum(igmp + 2, checksum_add(0, igmp, bytes));
  return at + bytes;
}

}  // namespace uroce::wire
