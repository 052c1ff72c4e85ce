// SPDX-License-Identifier: BSD-3-Clause
// Group records and time codes of IGMPv3 and MLDv2.
#include "wire/membership.h"

#include <bit>

#include "base/bytes.h"

namespace uroce::wire {
namespace {

constexpr uint32_t kRecordHeaderBytes = 4;

// The length of the record at the front of `rest`, auxiliary data included; 0 when cut short.
size_t whole_record_bytes(std::span<const uint8_t> rest, bool ipv6) {
  const size_t address = ipv6 ? 16 : 4;
  if (rest.size() < kRecordHeaderBytes + address) return 0;
  const size_t bytes =
      kRecordHeaderBytes + address + load_be16(rest.data() + 2) * address + size_t{rest[1]} * 4;
  return bytes <= rest.size() ? bytes : 0;
}

// Value of a code with `mantissa_bits` below a 3-bit exponent: (1.mantissa) << (exponent + 3).
uint32_t decode(uint32_t code, unsigned mantissa_bits) {
  const uint32_t limit = 8u << mantissa_bits;
  if (code < limit) return code;
  const uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = code >> mantissa_bits & 7;
  return (mantissa | 1u << mantissa_bits) << (exponent + 3);
}

uint32_t encode(uint32_t value, unsigned mantissa_bits) {
  const uint32_t limit = 8u << mantissa_bits;
  if (value < limit) return value;
  const auto shift = static_cast<uint32_t>(std::bit_width(value)) - 1 - mantissa_bits;
  if (shift > 10) return limit * 2 - 1;
  const uint32_t mantissa = value >> shift & ((1u << mantissa_bits) - 1);
  return limit | (shift - 3) << mantissa_bits | mantissa;
}

}  // namespace

bool next_record(std::span<const uint8_t>& rest, bool ipv6, GroupRecord& out) {
  const size_t bytes = whole_record_bytes(rest, ipv6);
  if (bytes == 0) return false;
  const size_t address = ipv6 ? 16 : 4;
  out.type = RecordType{rest[0]};
  out.group = load_address(rest.data() + kRecordHeaderBytes, ipv6);
  out.sources = rest.subspan(kRecordHeaderBytes + address, load_be16(rest.data() + 2) * address);
  rest = rest.subspan(bytes);
  return true;
}

bool records_whole(std::span<const uint8_t> records, bool ipv6, uint32_t count) {
  for (; count != 0; --count) {
    const size_t bytes = whole_record_bytes(records, ipv6);
    if (bytes == 0) return false;
    records = records.subspan(bytes);
  }
  return true;
}

uint32_t record_bytes(const GroupRecord& record) {
  const uint32_t address = record.group.is_ipv4() ? 4 : 16;
  return kRecordHeaderBytes + address + static_cast<uint32_t>(record.sources.size());
}

uint32_t store_record(uint8_t* to, const GroupRecord& record) {
  to[0] = static_cast<uint8_t>(record.type);
  to[1] = 0;
  const uint32_t address = store_address(to + kRecordHeaderBytes, record.group);
  store_be16(to + 2, static_cast<uint16_t>(record.sources.size() / address));
  if (!record.sources.empty()) {
    std::memcpy(to + kRecordHeaderBytes + address, record.sources.data(), record.sources.size());
  }
  return record_bytes(record);
}

bool parse_record_report(std::span<const uint8_t> message, bool ipv6, MembershipMessage& out) {
  if (message.size() < kRecordReportBytes) return false;
  out.kind = MembershipKind::kRecordReport;
  out.record_count = load_be16(message.data() + 6);
  out.records = message.subspan(kRecordReportBytes);
  return records_whole(out.records, ipv6, out.record_count);
}

bool parse_query_tail(std::span<const uint8_t> tail, bool ipv6, MembershipMessage& out) {
  if (tail.size() < kQueryTailBytes) return false;
  out.suppress_router = (tail[0] & 8) != 0;
  out.robustness = tail[0] & 7;
  out.query_interval_s = decode_time8(tail[1]);
  const size_t source_bytes = load_be16(tail.data() + 2) * size_t{ipv6 ? 16u : 4u};
  if (tail.size() < kQueryTailBytes + source_bytes) return false;
  out.sources = tail.subspan(kQueryTailBytes, source_bytes);
  return true;
}

uint32_t record_report_bytes(std::span<const GroupRecord> records) {
  uint32_t bytes = kRecordReportBytes;
  for (const GroupRecord& record : records) bytes += record_bytes(record);
  return bytes;
}

uint32_t query_tail_bytes(const MembershipMessage& query) {
  return kQueryTailBytes + static_cast<uint32_t>(query.sources.size());
}

void store_record_report(uint8_t* message, std::span<const GroupRecord> records) {
  store_be16(message + 4, 0);
  store_be16(message + 6, static_cast<uint16_t>(records.size()));
  uint8_t* to = message + kRecordReportBytes;
  for (const GroupRecord& record : records) to += store_record(to, record);
}

void store_query_tail(uint8_t* tail, bool ipv6, const MembershipMessage& query) {
  tail[0] = static_cast<uint8_t>((query.suppress_router ? 8 : 0) | (query.robustness & 7));
  tail[1] = encode_time8(query.query_interval_s);
  store_be16(tail + 2, static_cast<uint16_t>(query.sources.size() / (ipv6 ? 16 : 4)));
  if (!query.sources.empty()) {
    std::memcpy(tail + kQueryTailBytes, query.sources.data(), query.sources.size());
  }
}

uint32_t decode_time8(uint8_t code) { return decode(code, 4); }
uint8_t encode_time8(uint32_t value) { return static_cast<uint8_t>(encode(value, 4)); }
uint32_t decode_time16(uint16_t code) { return decode(code, 12); }
uint16_t encode_time16(uint32_t value) { return static_cast<uint16_t>(encode(value, 12)); }

}  // namespace uroce::wire
