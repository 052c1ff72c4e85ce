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
constexpr uint32_t kQuery2Bytes = 28;
constexpr uint32_t kReport2Bytes = 8;  // before the records
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
  if (mld.size() < kQuery2Bytes) return Drop::kMldMalformed;
  out.version = 2;
  out.max_response_ms = decode_time16(code);
  out.suppress_router = (mld[24] & 8) != 0;
  out.robustness = mld[24] & 7;
  out.query_interval_s = decode_time8(mld[25]);
  const size_t source_bytes = load_be16(mld.data() + 26) * size_t{16};
  if (mld.size() < kQuery2Bytes + source_bytes) return Drop::kMldMalformed;
  out.sources = mld.subspan(kQuery2Bytes, source_bytes);
  return Drop::kNone;
}

Drop parse_message(std::span<const uint8_t> mld, MembershipMessage& out) {
  if (mld[0] == kTypeReport2) {
    out.kind = MembershipKind::kRecordReport;
    out.version = 2;
    out.record_count = load_be16(mld.data() + 6);
    out.records = mld.subspan(kReport2Bytes);
    return records_whole(out.records, true, out.record_count) ? Drop::kNone : Drop::kMldMalformed;
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
  if (message.kind == MembershipKind::kRecordReport) {
    uint32_t bytes = kReport2Bytes;
    for (const GroupRecord& record : records) bytes += record_bytes(record);
    return bytes;
  }
  if (message.kind == MembershipKind::kQuery && message.version == 2) {
    return kQuery2Bytes + static_cast<uint32_t>(message.sources.size());
  }
  return kFixedBytes;
}

void store_message(uint8_t* mld, const MembershipMessage& message,
                   std::span<const GroupRecord> records) {
  if (message.kind == MembershipKind::kRecordReport) {
    store_be16(mld + 6, static_cast<uint16_t>(records.size()));
    uint8_t* to = mld + kReport2Bytes;
    for (const GroupRecord& record : records) to += store_record(to, record);
    return;
  }
  std::memcpy(mld + 8, message.group.bytes.data(), 16);
  if (message.kind != MembershipKind::kQuery) return;
  if (message.version == 1) {
    store_be16(mld + 4, static_cast<uint16_t>(std::min<uint32_t>(message.max_response_ms, 65535)));
    return;
  }
  store_be16(mld + 4, encode_time16(message.max_response_ms));
  mld[24] = static_cast<uint8_t>((message.suppress_router ? 8 : 0) | (message.robustness & 7));
  mld[25] = encode_time8(message.query_interval_s);
  store_be16(mld + 26, static_cast<uint16_t>(message.sources.size() / 16));
  if (!message.sources.empty()) {
    std::memcpy(mld + kQuery2Bytes, message.sources.data(), message.sources.size());
  }
}

}  // namespace

Drop parse_mld(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
               MembershipMessage& out) {
  std::span<const uint8_t> mld;
  if (const Drop drop = check_ip(frame, info, options, mld); drop != Drop::kNone) return drop;
  const uint8_t* l3 = frame.data() + info.l3_offset;
  if (mld.size() < kReport2Bytes || l3[7] != 1) return Drop::kMldMalformed;
  const uint64_t pseudo =
      pseudo_header_sum(l3 + 8, 32, kProtocolIcmpv6, static_cast<uint32_t>(mld.size()));
  if (!checksum_good(checksum_add(pseudo, mld.data(), mld.size()))) return Drop::kIcmpChecksum;
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
  if (room.size() < kEthernetBytes + kVlanTagBytes + ip_header_bytes(ip) + bytes) return 0;
  const EthernetFields ethernet{link.mac, multicast_mac(ip.destination), link.vlan, link.vlan_tci};
  const uint32_t l3_offset = store_ethernet(room.data(), ethernet, kEthertypeIpv6);
  const uint32_t at = l3_offset + store_ip(room.data() + l3_offset, ip, bytes);
  uint8_t* mld = room.data() + at;
  std::memset(mld, 0, std::min(bytes, kQuery2Bytes));
  mld[0] = envelope.type;
  store_message(mld, message, records);
  store_checksum(mld + 2, checksum_add(pseudo_header_sum(ip, bytes), mld, bytes));
  return at + bytes;
}

}  // namespace uroce::wire
