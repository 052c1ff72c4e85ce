// SPDX-License-Identifier: BSD-3-Clause
// The wire form of IGMP. What a host does with it is in group_host and report_schedule.
#include "group/igmp_host.h"

#include "wire/igmp.h"

namespace uroce::group {
namespace {

bool is_group(const Gid& group) { return group.is_ipv4() && group.is_multicast(); }

// 224.0.0.1 has no reports (RFC 3376, 6).
bool is_reported(const Gid& group) { return group != Gid::from_ipv4(0xE0000001); }

// A host without an address sends from 0.0.0.0.
uint32_t build(std::span<uint8_t> room, const wire::LinkSource& link, const Gid& source,
               const wire::MembershipMessage& message, std::span<const wire::GroupRecord> records) {
  return wire::build_igmp(room, link, source.is_ipv4() ? source.ipv4() : 0, message, records);
}

constexpr WireForm kIgmp = {
    .record_version = 3,
    .leave_version_min = 2,
    .header_bytes = wire::kIpv4Bytes + wire::kRouterAlertBytes4 + 8,
    .record_bytes = 8,
    .is_group = is_group,
    .is_reported = is_reported,
    .parse = wire::parse_igmp,
    .build = build,
};

}  // namespace

// A querier of a snooping switch has no address: 0.0.0.0 is as good a source of queries as any, so
// the form asks for none.
IgmpHost::IgmpHost(const HostConfig& config) : GroupHost(kIgmp, config) {}

}  // namespace uroce::group
