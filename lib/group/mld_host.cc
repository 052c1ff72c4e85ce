// SPDX-License-Identifier: BSD-3-Clause
// The wire form of MLD. What a host does with it is in group_host and report_schedule.
#include "group/mld_host.h"

#include "wire/mld.h"

namespace uroce::group {
namespace {

bool is_group(const Gid& group) { return group.bytes[0] == 0xff; }

// ff02::1 and groups that never leave the host (scope 0 and 1) have no reports (RFC 3810, 6).
bool is_reported(const Gid& group) {
  constexpr Gid kAllNodes{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  return group != kAllNodes && (group.bytes[1] & 0x0f) > 1;
}

constexpr WireForm kMld = {
    .record_version = 2,
    .leave_version_min = 1,
    .header_bytes = wire::kIpv6Bytes + wire::kHopByHopBytes + 8,
    .record_bytes = 20,
    .is_group = is_group,
    .is_reported = is_reported,
    .parse = wire::parse_mld,
    .build = wire::build_mld,
};

}  // namespace

MldHost::MldHost(const HostConfig& config) : GroupHost(kMld, config) {}

}  // namespace uroce::group
