// SPDX-License-Identifier: BSD-3-Clause
// MLD messages, to fields and back.
#include "wire/mld.h"

#include <algorithm>

#include "wire/checksum.h"

namespace uroce::wire {
namespace {

constexpr uint8_t kTypeQuery = 130;
constexpr uint8_t kTypeReport1 = 131;
constexpr uint8_t kTypeDone = 132;
constexpr uint8_t kTypeReport2 = 143;
constexpr uint32_t kFixedBytes = 24;  // query and report of version 1, done
constexpr Gid kAllNodes{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01}};
constexpr Gid kAllRouters{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02}};
constexpr Gid kReport2Routers{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16}};

// True when the hop-by-hop options between the IPv6 header and the message have Router Alert.
bool has_router_alert(std::span<const uint8_t> options) {
  size_t at = 2;  // behind next header and length
  while (at < options.size()) {
    if (options[at] == 0) {  // Pad1 has no length
      ++at;
      continue;
    }
    if (at + 2 > options.size()) return false;
    if (options[at] == 5 && options[at + 1] == 2) return true;
    at += size_t{2} + options[at + 1];
  }
  return false;
}

bool source_fits(const MembershipMessage& message) {
  if (message.source.is_link_local()) return true;
  return message.kind != MembershipKind::kQuery && message.source.is_zero();
}

Drop parse_query(std::span<const uint8_t> mld, MembershipMessage& out) {
  out.kind = MembershipKind::kQuery;
  const uint16_t code = load_be16(mld.data() + 4);
  if (mld.size() == kFixedBytes) {
    out.version = 1;
    out.max_response_ms = code;
    return Drop::kNone;
  }
  out.version = 2;
  out.max_response_ms = decode_time16(code);
  return parse_query_tail(mld.subspan(kFixedBytes), true, out) ? Drop::kNone : Drop::kMldMalformed;
}

Drop parse_message(std::span<const uint8_t> mld, MembershipMessage& out) {
  if (mld[0] == kTypeReport2) {
    out.version = 2;
    return parse_record_report(mld, true, out) ? Drop::kNone : Drop::kMldMalformed;
  }
  if (mld.size() < kFixedBytes) return Drop::kMldMalformed;
  out.group = load_address(mld.data() + 8, true);
  if (mld[0] == kTypeQuery) return parse_query(mld, out);
  out.kind = mld[0] == kTypeDone ? MembershipKind::kLeave : MembershipKind::kReport;
  out.version = 1;
  return Drop::kNone;
}

// The type byte and destination of a message to be built.
struct Envelope {
  uint8_t type;
  Gid destination;
};

Envelope envelope_of(const MembershipMessage& message) {
  switch (message.kind) {
    case MembershipKind::kQuery:
      return {kTypeQuery, message.group.is_zero() ? kAllNodes : message.group};
    case MembershipKind::kReport:
      return {kTypeReport1, message.group};
    case MembershipKind::kLeave:
      return {kTypeDone, kAllRouters};
    case MembershipKind::kRecordReport:
      break;
  }
  return {kTypeReport2, kReport2Routers};
}

uint32_t message_bytes(const MembershipMessage& message, std::span<const GroupRecord> records) {
  if (message.kind == MembershipKind::kRecordReport) return record_report_bytes(records);
  const bool with_tail = message.kind == MembershipKind::kQuery && message.version == 2;
  return kFixedBytes + (with_tail ? query_tail_bytes(message) : 0);
}

void store_message(uint8_t* mld, const MembershipMessage& message,
                   std::span<const GroupRecord> records) {
  if (message.kind == MembershipKind::kRecordReport) return store_record_report(mld, records);
  std::memset(mld + 4, 0, 4);
  std::memcpy(mld + 8, message.group.bytes.data(), 16);
  if (message.kind != MembershipKind::kQuery) return;
  if (message.version == 1) {
    store_be16(mld + 4, static_cast<uint16_t>(std::min<uint32_t>(message.max_response_ms, 65535)));
    return;
  }
  store_be16(mld + 4, encode_time16(message.max_response_ms));
  store_query_tail(mld + kFixedBytes, true, message);
}

}  // namespace

Drop parse_mld(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
               MembershipMessage& out) {
  std::span<const uint8_t> mld;
  if (const Drop drop = check_ip(frame, info, options, mld); drop != Drop::kNone) return drop;
  const uint8_t* l3 = frame.data() + info.l3_offset;
  if (mld.size() < kRecordReportBytes || l3[7] != 1) return Drop::kMldMalformed;
  if (!icmpv6_checksum_good(l3, mld)) return Drop::kIcmpChecksum;
  const uint32_t options_at = info.l3_offset + kIpv6Bytes;
  if (!has_router_alert(frame.subspan(options_at, info.l4_offset - options_at))) {
    return Drop::kMldMalformed;
  }
  out = {};
  out.source = load_address(l3 + 8, true);
  out.destination = load_address(l3 + 24, true);
  if (const Drop drop = parse_message(mld, out); drop != Drop::kNone) return drop;
  return source_fits(out) ? Drop::kNone : Drop::kMldMalformed;
}

uint32_t build_mld(std::span<uint8_t> room, const LinkSource& link, const Gid& source,
                   const MembershipMessage& message, std::span<const GroupRecord> records) {
  const Envelope envelope = envelope_of(message);
  IpFields ip;
  ip.source = source;
  ip.destination = envelope.destination;
  ip.protocol = kProtocolIcmpv6;
  ip.hop_limit = 1;
  ip.router_alert = true;
  const uint32_t bytes = message_bytes(message, records);
  const uint32_t at = store_headers(room, link.to(multicast_mac(ip.destination)), ip, bytes);
  if (at == 0) return 0;
  uint8_t* mld = room.data() + at;
  store_be32(mld, uint32_t{envelope.type} << 24);
  store_message(mld, message, records);
  store_checksum(mld + 2, checksum_add(pseudo_header_sum(ip, bytes), mld, bytes));
  return at + bytes;
}

}  // namespace uroce::wire
