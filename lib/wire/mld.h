// SPDX-License-Identifier: BSD-3-Clause
// MLD versions 1 and 2: parse and build (RFC 2710, RFC 3810).
#ifndef UROCE_WIRE_MLD_H
#define UROCE_WIRE_MLD_H

#include <cstdint>
#include <span>

#include "wire/membership.h"
#include "wire/parse.h"

namespace uroce::wire {

// Parses a frame that classify() found to be kMld. Spans of `out` point into the frame. Demanded
// are hop limit 1, Router Alert in a hop-by-hop header, and a link-local source (reports: or none).
// Refusals: those of check_ip(), kMldMalformed, kIcmpChecksum.
Drop parse_mld(std::span<const uint8_t> frame, const L3Info& info, const ParseOptions& options,
               MembershipMessage& out);

// Builds the whole frame: hop limit 1, Router Alert, and the destination that the message has
// (query: the group or ff02::1; report: the group; done: ff02::2; record report: ff02::16).
// `records` belong to a kRecordReport. Returns the length, or 0 when the room is too small.
uint32_t build_mld(std::span<uint8_t> room, const LinkSource& link, const Gid& source,
                   const MembershipMessage& message, std::span<const GroupRecord> records);

}  // namespace uroce::wire

#endif  // UROCE_WIRE_MLD_H
