// SPDX-License-Identifier: BSD-3-Clause
// IGMP versions 1 to 3: parse and build (RFC 1112, RFC 2236, RFC 3376).
#ifndef UROCE_WIRE_IGMP_H
#define UROCE_WIRE_IGMP_H

#include <cstdint>
#include <span>

#include "wire/membership.h"
#include "wire/parse.h"

namespace uroce::wire {

// Parses a frame that classify() found to be kIgmp. Spans of `out` point into the frame. A query's
// version follows from its length and response code (RFC 3376 7.1); the response time of a version
// 1 query is the 10 s that version 1 assumes. Types that nobody knows are kIgmpMalformed.
// Refusals: those of check_ip(), kIgmpMalformed, kIgmpChecksum.
Drop parse_igmp(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
                MembershipMessage& out);

// Builds the whole frame: TTL 1, TOS 0xC0, Router Alert, and the destination that the message has
// (query: the group or 224.0.0.1; report: the group; leave: 224.0.0.2; record report: 224.0.0.22).
// `records` belong to a kRecordReport. Returns the length, or 0 when the room is too small.
uint32_t build_igmp(std::span<uint8_t> room, const LinkSource& link, uint32_t source_ip,
                    const MembershipMessage& message, std::span<const GroupRecord> records);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_IGMP_H
