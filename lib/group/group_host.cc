// SPDX-License-Identifier: BSD-3-Clause
// Queries into the schedule, records out of it into frames. The timing is in report_schedule.
#include "group/group_host.h"

#include <algorithm>

#include "base/assert.h"

namespace uroce::group {
namespace {

using ReportAnswer = ReportSchedule::Answer;
using wire::MembershipKind;

constexpr uint32_t kLinkBytes = wire::kEthernetBytes + wire::kVlanTagBytes;
// Within which a join is reported again where a report is of one group (RFC 2236 8.10, RFC 2710
// 7.10).
constexpr Duration kSingleRepeatWithin = std::chrono::seconds(10);

uint8_t newest_version(const WireForm& form, const HostConfig& config) {
  return std::clamp<uint8_t>(config.version_max, 1, form.record_version);
}

}  // namespace

GroupHost::GroupHost(const WireForm& form, const HostConfig& config)
    : form_(form),
      config_(config),
      querier_(newest_version(form, config)),
      version_(newest_version(form, config)),
      schedule_(config.groups_max, config.sources_max, config.seed),
      record_bytes_max_(bytes_for_records(~uint32_t{0})),
      records_(std::make_unique<wire::GroupRecord[]>(record_bytes_max_ / form.record_bytes)),
      addresses_(std::make_unique<uint8_t[]>(record_bytes_max_)) {
  UROCE_ASSERT(config.mtu_bytes >= 256 && config.mtu_bytes <= 65535);
  speak(version_);
}

bool GroupHost::is_reported(const Gid& group) const {
  return config_.version_max != 0 && form_.is_reported(group);
}

bool GroupHost::set_filter(Time now, const Gid& group, const SourceFilter& filter) {
  UROCE_ASSERT(form_.is_group(group));
  return !is_reported(group) || schedule_.set_filter(now, group, filter);
}

void GroupHost::speak(uint8_t version) {
  version_ = version;
  schedule_.set_by_records(by_records());
  schedule_.set_join_repeat_within(by_records() ? ReportSchedule::kRepeatWithin
                                                : kSingleRepeatWithin);
}

// What was an answer in the one version is none in the other (RFC 3376 7.2.1). Changes that are not
// fully reported stay due, in the new version: the querier that speaks it may not have heard them.
void GroupHost::follow_version(Time now) {
  if (version_ == querier_.at(now)) return;
  speak(querier_.at(now));
  schedule_.cancel_answers();
}

wire::Drop GroupHost::handle_frame(Time now, std::span<const uint8_t> frame,
                                   const wire::L3Info& info, const wire::ParseOptions& options) {
  wire::MembershipMessage message;
  const wire::Drop drop = form_.parse(frame, info, options, message);
  if (drop != wire::Drop::kNone) return drop;
  follow_version(now);
  if (message.kind == MembershipKind::kQuery) {
    handle_query(now, message);
  } else if (message.kind == MembershipKind::kReport && !by_records() &&
             schedule_.suppress_answer(message.group)) {
    ++counters_.answers_suppressed;
  }
  return wire::Drop::kNone;
}

void GroupHost::handle_query(Time now, const wire::MembershipMessage& query) {
  ++counters_.queries_received;
  if (query.version < form_.record_version) ++counters_.older_queries_received;
  querier_.handle_query(now, query);
  follow_version(now);
  schedule_.set_robustness(querier_.robustness());
  const auto within = std::chrono::milliseconds(query.max_response_ms);
  if (query.group.is_zero()) {
    schedule_.handle_general_query(now, within,
                                   by_records() ? ReportAnswer::kAtOnce : ReportAnswer::kSpread);
  } else {
    const bool of_sources = by_records() && !query.sources.empty();
    schedule_.handle_group_query(now, query.group, within,
                                 of_sources ? query.sources : std::span<const uint8_t>{});
  }
}

bool GroupHost::poll_frame(Time now, TxSlot& slot) {
  if (schedule_.poll_timeout() > now) return false;
  follow_version(now);
  return by_records() ? poll_records(now, slot) : poll_single(now, slot);
}

bool GroupHost::poll_records(Time now, TxSlot& slot) {
  const uint32_t bytes = bytes_for_records(slot.capacity);
  RecordRoom room({records_.get(), bytes / form_.record_bytes},
                  {addresses_.get(), record_bytes_max_}, bytes);
  if (!schedule_.take_due(now, room)) return false;
  wire::MembershipMessage message;
  message.kind = MembershipKind::kRecordReport;
  build(message, room.records(), slot);
  ++counters_.reports_sent;
  counters_.records_sent.add(room.records().size());
  return true;
}

// In a version without records: a report or a leave of the next group.
bool GroupHost::poll_single(Time now, TxSlot& slot) {
  while (true) {
    RecordRoom room({records_.get(), 1}, {}, form_.record_bytes);
    if (!schedule_.take_due(now, room)) return false;
    const bool leave = records_[0].type == wire::RecordType::kChangeToInclude;
    if (leave && version_ < form_.leave_version_min) continue;
    wire::MembershipMessage message;
    message.kind = leave ? MembershipKind::kLeave : MembershipKind::kReport;
    message.group = records_[0].group;
    build(message, {}, slot);
    ++(leave ? counters_.leaves_sent : counters_.reports_sent);
    return true;
  }
}

void GroupHost::build(wire::MembershipMessage message, std::span<const wire::GroupRecord> records,
                      TxSlot& slot) const {
  message.version = version_;
  slot.length =
      form_.build({slot.room, slot.capacity}, config_.link(), config_.address, message, records);
  UROCE_ASSERT(slot.length != 0);
  slot.route = Route::kWire;
}

uint32_t GroupHost::bytes_for_records(uint32_t capacity) const {
  UROCE_ASSERT(capacity >= 256);
  return std::min(config_.mtu_bytes, capacity - kLinkBytes) - form_.header_bytes;
}

}  // namespace uroce::group
