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
  out.version = 3;
  out.max_response_ms = decode_time8(code) * 100;
  return parse_query_tail(igmp.subspan(kFixedBytes), false, out) ? Drop::kNone
                                                                 : Drop::kIgmpMalformed;
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
  if (message.kind == MembershipKind::kRecordReport) return record_report_bytes(records);
  const bool with_tail = message.kind == MembershipKind::kQuery && message.version == 3;
  return kFixedBytes + (with_tail ? query_tail_bytes(message) : 0);
}

void store_query(uint8_t* igmp, const MembershipMessage& message) {
  const uint32_t tenths = message.max_response_ms / 100;
  if (message.version == 3) {
    igmp[1] = encode_time8(tenths);
    store_query_tail(igmp + kFixedBytes, false, message);
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
      out.version = 3;
      return parse_record_report(igmp, false, out) ? Drop::kNone : Drop::kIgmpMalformed;
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
  const uint32_t at = store_headers(room, link.to(multicast_mac(ip.destination)), ip, bytes);
  if (at == 0) return 0;
  uint8_t* igmp = room.data() + at;
  std::memset(igmp, 0, kFixedBytes);
  igmp[0] = envelope.type;
  if (message.kind == MembershipKind::kRecordReport) {
    store_record_report(igmp, records);
  } else {
    store_be32(igmp + 4, message.group.is_zero() ? 0 : message.group.ipv4());
    if (message.kind == MembershipKind::kQuery) store_query(igmp, message);
  }
  store_checksum(igmp + 2, checksum_add(0, igmp, bytes));
  return at + bytes;
}

}  // namespace uroce::wire
