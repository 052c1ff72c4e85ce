// SPDX-License-Identifier: BSD-3-Clause
// What IGMP and MLD messages have in common: queries, reports and records of multicast membership.
#ifndef UROCE_WIRE_MEMBERSHIP_H
#define UROCE_WIRE_MEMBERSHIP_H

#include <cstdint>
#include <span>

#include "base/types.h"
#include "wire/ethernet.h"
#include "wire/ip.h"

namespace uroce::wire {

enum class MembershipKind : uint8_t {
  kQuery,
  kReport,        // version 1 (IGMP only) and 2 of IGMP, version 1 of MLD: one group
  kLeave,         // IGMPv2 leave, MLDv1 done: one group
  kRecordReport,  // IGMPv3 and MLDv2: records
};

// Record types of IGMPv3 and MLDv2 (RFC 3376 4.2.12, RFC 3810 5.2.12).
enum class RecordType : uint8_t {
  kModeIsInclude = 1,
  kModeIsExclude = 2,
  kChangeToInclude = 3,
  kChangeToExclude = 4,
  kAllowNewSources = 5,
  kBlockOldSources = 6,
};

// A group and its sources. `sources` holds addresses as they lie on the wire, 4 bytes each for an
// IPv4 group, else 16.
struct GroupRecord {
  RecordType type = RecordType::kModeIsExclude;
  Gid group;
  std::span<const uint8_t> sources;
};

// A message of either protocol; addresses are GIDs, IPv4-mapped for IGMP.
struct MembershipMessage {
  MembershipKind kind = MembershipKind::kQuery;
  uint8_t version = 3;               // of the protocol: IGMP 1..3, MLD 1..2
  Gid source;                        // parse: of the packet
  Gid destination;                   // parse: of the packet
  Gid group;                         // query: zero for a general query; report and leave
  uint32_t max_response_ms = 0;      // query
  bool suppress_router = false;      // query of the newest version: the S flag,
  uint8_t robustness = 0;            // QRV, 0..7,
  uint32_t query_interval_s = 0;     // QQI
  std::span<const uint8_t> sources;  // query: asked-for sources, as in GroupRecord
  uint16_t record_count = 0;         // kRecordReport
  std::span<const uint8_t> records;  // kRecordReport, parse: for next_record()
};

// Takes the next record off `rest`; false at the end. The records of a parsed message are whole.
bool next_record(std::span<const uint8_t>& rest, bool ipv6, GroupRecord& out);

// Bytes that a record takes on the wire.
uint32_t record_bytes(const GroupRecord& record);
// Writes a record (no auxiliary data) and returns its length.
uint32_t store_record(uint8_t* to, const GroupRecord& record);

// True when `count` whole records lie at `records`.
bool records_whole(std::span<const uint8_t> records, bool ipv6, uint32_t count);

// What the newest version of both protocols has at one place. A message begins with its type byte.
// The tail of a query is what follows the group: S flag, QRV, QQIC and sources.
inline constexpr uint32_t kRecordReportBytes = 8;  // before the records
inline constexpr uint32_t kQueryTailBytes = 4;     // before the sources

// Each is false when the message is cut short. Spans of `out` point into it.
bool parse_record_report(std::span<const uint8_t> message, bool ipv6, MembershipMessage& out);
bool parse_query_tail(std::span<const uint8_t> tail, bool ipv6, MembershipMessage& out);
// Bytes of a report with these records, and of a query's tail.
uint32_t record_report_bytes(std::span<const GroupRecord> records);
uint32_t query_tail_bytes(const MembershipMessage& query);
// Write what stands behind the type, code and checksum of a report, and a query's tail.
void store_record_report(uint8_t* message, std::span<const GroupRecord> records);
void store_query_tail(uint8_t* tail, bool ipv6, const MembershipMessage& query);

// Codes that stand for a number with a mantissa and an exponent above a limit: 8 bits in IGMPv3 and
// for the query interval (limit 128), 16 bits for the MLDv2 response time (limit 32768). Encoding
// rounds down to the next value that has a code.
uint32_t decode_time8(uint8_t code);
uint8_t encode_time8(uint32_t value);
uint32_t decode_time16(uint16_t code);
uint16_t encode_time16(uint32_t value);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_MEMBERSHIP_H
