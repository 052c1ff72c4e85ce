// SPDX-License-Identifier: BSD-3-Clause
// The wire form of IGMPv3 reports and queries. The timing is in report_schedule.
#include "group/igmp_host.h"

#include <algorithm>

#include "base/assert.h"
#include "wire/igmp.h"

namespace uroce::group {
namespace {

constexpr Gid kAllHosts = Gid::from_ipv4(0xE0000001);
constexpr uint32_t kLinkBytes = wire::kEthernetBytes + wire::kVlanTagBytes;
constexpr uint32_t kHeaderBytes = wire::kIpv4Bytes + wire::kRouterAlertBytes4 + 8;
constexpr uint32_t kRecordBytes = 8;

}  // namespace

IgmpHost::IgmpHost(const HostConfig& config)
    : config_(config),
      schedule_(config.groups_max, config.seed),
      records_(std::make_unique<wire::GroupRecord[]>(records_that_fit(~uint32_t{0}))) {
  UROCE_ASSERT(config.mtu_bytes >= 256 && config.mtu_bytes <= 65535);
}

bool IgmpHost::join(Time now, const Gid& group) {
  UROCE_ASSERT(group.is_ipv4() && group.is_multicast());
  return group == kAllHosts || schedule_.join(now, group);
}

bool IgmpHost::leave(Time now, const Gid& group) {
  return group == kAllHosts || schedule_.leave(now, group);
}

wire::Drop IgmpHost::handle_frame(Time now, std::span<const uint8_t> frame,
                                  const wire::L3Info& info, const wire::ParseOptions& options) {
  wire::MembershipMessage message;
  const wire::Drop drop = wire::parse_igmp(frame, info, options, message);
  if (drop != wire::Drop::kNone) return drop;
  if (message.kind != wire::MembershipKind::kQuery) return wire::Drop::kNone;
  ++counters_.queries_received;
  // A querier of a snooping switch has no address: 0.0.0.0 is as good a source as any. Asked-for
  // sources make no difference to a host that listens to all.
  const auto within = std::chrono::milliseconds(message.max_response_ms);
  if (message.group.is_zero()) {
    schedule_.handle_general_query(now, within);
  } else {
    schedule_.handle_group_query(now, message.group, within);
  }
  return wire::Drop::kNone;
}

bool IgmpHost::poll_frame(Time now, TxSlot& slot) {
  if (schedule_.poll_timeout() > now) return false;
  const uint32_t room = records_that_fit(slot.capacity);
  const uint32_t count = schedule_.take_due(now, {records_.get(), room});
  if (count == 0) return false;
  wire::MembershipMessage message;
  message.kind = wire::MembershipKind::kRecordReport;
  message.version = 3;
  const uint32_t source = config_.address.is_ipv4() ? config_.address.ipv4() : 0;
  slot.length = wire::build_igmp({slot.room, slot.capacity}, config_.link(), source, message,
                                 {records_.get(), count});
  UROCE_ASSERT(slot.length != 0);
  slot.route = Route::kWire;
  ++counters_.reports_sent;
  counters_.records_sent.add(count);
  return true;
}

uint32_t IgmpHost::records_that_fit(uint32_t capacity) const {
  UROCE_ASSERT(capacity >= 256);
  const uint32_t ip_bytes = std::min(config_.mtu_bytes, capacity - kLinkBytes);
  return (ip_bytes - kHeaderBytes) / kRecordBytes;
}

}  // namespace uroce::group
