// SPDX-License-Identifier: BSD-3-Clause
// Queries into the schedule, records out of it into frames. The timing is in report_schedule.
#include "group/group_host.h"

#include <algorithm>

#include "base/assert.h"

namespace uroce::group {
namespace {

constexpr uint32_t kLinkBytes = wire::kEthernetBytes + wire::kVlanTagBytes;

}  // namespace

GroupHost::GroupHost(const WireForm& form, const HostConfig& config)
    : form_(form),
      config_(config),
      schedule_(config.groups_max, config.seed),
      records_(std::make_unique<wire::GroupRecord[]>(records_that_fit(~uint32_t{0}))) {
  UROCE_ASSERT(config.mtu_bytes >= 256 && config.mtu_bytes <= 65535);
}

bool GroupHost::join(Time now, const Gid& group) {
  UROCE_ASSERT(form_.is_group(group));
  return !form_.is_reported(group) || schedule_.join(now, group);
}

bool GroupHost::leave(Time now, const Gid& group) {
  return !form_.is_reported(group) || schedule_.leave(now, group);
}

wire::Drop GroupHost::handle_frame(Time now, std::span<const uint8_t> frame,
                                   const wire::L3Info& info, const wire::ParseOptions& options) {
  wire::MembershipMessage message;
  const wire::Drop drop = form_.parse(frame, info, options, message);
  if (drop != wire::Drop::kNone) return drop;
  if (message.kind != wire::MembershipKind::kQuery) return wire::Drop::kNone;
  ++counters_.queries_received;
  // Asked-for sources make no difference to a host that listens to all.
  const auto within = std::chrono::milliseconds(message.max_response_ms);
  if (message.group.is_zero()) {
    schedule_.handle_general_query(now, within);
  } else {
    schedule_.handle_group_query(now, message.group, within);
  }
  return wire::Drop::kNone;
}

bool GroupHost::poll_frame(Time now, TxSlot& slot) {
  if (schedule_.poll_timeout() > now) return false;
  const uint32_t room = records_that_fit(slot.capacity);
  const uint32_t count = schedule_.take_due(now, {records_.get(), room});
  if (count == 0) return false;
  wire::MembershipMessage message;
  message.kind = wire::MembershipKind::kRecordReport;
  message.version = form_.record_version;
  slot.length = form_.build({slot.room, slot.capacity}, config_.link(), config_.address, message,
                            {records_.get(), count});
  UROCE_ASSERT(slot.length != 0);
  slot.route = Route::kWire;
  ++counters_.reports_sent;
  counters_.records_sent.add(count);
  return true;
}

uint32_t GroupHost::records_that_fit(uint32_t capacity) const {
  UROCE_ASSERT(capacity >= 256);
  const uint32_t ip_bytes = std::min(config_.mtu_bytes, capacity - kLinkBytes);
  return (ip_bytes - form_.header_bytes) / form_.record_bytes;
}

}  // namespace uroce::group
