// SPDX-License-Identifier: BSD-3-Clause
// What a report says: the sources of an entry, and the records that name them. When it is said is
// in report_schedule.cc.
#include <algorithm>
#include <utility>

#include "group/report_schedule.h"

namespace uroce::group {

using wire::RecordType;

// There are more entries than sources that may be wanted, so without a free one there is one that
// is only to be told of: it makes room.
uint32_t ReportSchedule::put_source(uint32_t slot, const Gid& source) {
  const SourceTable::Key key = sources_.key(source);
  uint32_t at = sources_.find(slot, key);
  if (at != kNoSlot) return at;
  at = sources_.add(slot, entries_[slot].sources, key);
  if (at == kNoSlot) {
    evict_source();
    at = sources_.add(slot, entries_[slot].sources, key);
  }
  return at;
}

// Makes the wanted sources those named. False: there is nothing to tell.
bool ReportSchedule::put_sources(uint32_t slot, std::span<const Gid> sources) {
  Entry& entry = entries_[slot];
  bool changes = false;
  ++round_;
  for (const Gid& source : sources) {
    SourceReport& report = reports_[put_source(slot, source)];
    report.round = round_;
    if (std::exchange(report.wanted, true)) continue;
    report.changes_left = robustness_;
    ++entry.wanted_count;
    ++wanted_count_;
    changes = true;
  }
  for (uint32_t s = entry.sources.first; s != kNoSlot;) {
    const uint32_t next = sources_.next(s);
    SourceReport& report = reports_[s];
    if (report.wanted && report.round != round_) {
      report.wanted = false;
      --entry.wanted_count;
      --wanted_count_;
      report.changes_left = report.announced ? robustness_ : 0;
      changes |= report.announced;
      if (!report.announced && !report.asked) free_source(s);
    }
    s = next;
  }
  return changes;
}

void ReportSchedule::free_source(uint32_t source) {
  Entry& entry = entries_[sources_.owner(source)];
  if (emission_.source == source) emission_.source = sources_.next(source);
  if (reports_[source].wanted) {
    --entry.wanted_count;
    --wanted_count_;
  }
  reports_[source] = {};
  sources_.remove(entry.sources, source);
}

void ReportSchedule::free_sources(Entry& entry) {
  while (entry.sources.first != kNoSlot) free_source(entry.sources.first);
  entry.asked = false;
}

// A source that was asked for goes as well: the answer is then for the whole group.
void ReportSchedule::evict_source() {
  while (sources_.owner(evict_source_from_) == kNoSlot || reports_[evict_source_from_].wanted) {
    evict_source_from_ = (evict_source_from_ + 1) % source_slots_;
  }
  entries_[sources_.owner(evict_source_from_)].asked = false;
  free_source(evict_source_from_);
}

// False: no room to remember them all.
bool ReportSchedule::ask_for(uint32_t slot, std::span<const uint8_t> sources) {
  Entry& entry = entries_[slot];
  const bool ipv6 = !entry.group.is_ipv4();
  const size_t bytes = ipv6 ? 16 : 4;
  for (; sources.size() >= bytes; sources = sources.subspan(bytes)) {
    const SourceTable::Key key = sources_.key(wire::load_address(sources.data(), ipv6));
    uint32_t at = sources_.find(slot, key);
    if (at == kNoSlot) {
      if (entry.mode == FilterMode::kInclude) continue;  // not wanted from there
      at = sources_.add(slot, entry.sources, key);
      if (at == kNoSlot) return false;
    }
    reports_[at].asked = true;
  }
  return true;
}

void ReportSchedule::begin(uint32_t slot, Cause cause) {
  Entry& entry = entries_[slot];
  Pass pass = Pass::kCurrent;
  if (!by_records_) {
    pass = Pass::kGroup;
  } else if (cause == Cause::kChange) {
    pass = entry.modes_left > 0 ? Pass::kMode : Pass::kAllow;
  } else if (cause == Cause::kAnswer && entry.asked) {
    pass = Pass::kAsked;
  }
  emission_ = {.cause = cause, .pass = pass, .slot = slot, .source = entry.sources.first};
  entry.announced |= entry.state == State::kJoined;
}

// The next entry of the walk; a walk that waited for its time starts.
bool ReportSchedule::begin_general(Time now) {
  if (!walking() && general_due_ <= now) {
    walk_due_ = now;
    walk_step_ = general_step_;
    walk_at_ = 0;
    general_due_ = kNever;
  }
  for (; walk_due_ <= now && walk_at_ < slots_; ++walk_at_) {
    Entry& entry = entries_[walk_at_];
    if (entry.state != State::kJoined) continue;
    if (!std::exchange(entry.suppressed, false)) {
      begin(walk_at_, Cause::kWalk);
      return true;
    }
    walk_due_ += walk_step_;
  }
  if (walk_at_ == slots_) walk_due_ = kNever;
  return false;
}

void ReportSchedule::give_up_emission(uint32_t slot) {
  if (emission_.slot == slot) emission_ = {};
}

// RFC 3376 5.1 and 5.2: the tables of what goes into which record.
bool ReportSchedule::is_named(const Entry& entry, const SourceReport& report) const {
  const bool is_let_through = report.wanted == (entry.mode == FilterMode::kInclude);
  switch (emission_.pass) {
    case Pass::kMode:
    case Pass::kCurrent:
      return report.wanted;
    case Pass::kAllow:
      return report.changes_left > 0 && is_let_through;
    case Pass::kBlock:
      return report.changes_left > 0 && !is_let_through;
    case Pass::kAsked:
      return report.asked && is_let_through;
    case Pass::kGroup:
      break;
  }
  return false;
}

RecordType ReportSchedule::record_type(const Entry& entry) const {
  const bool exclude = entry.mode == FilterMode::kExclude;
  switch (emission_.pass) {
    case Pass::kMode:
      return exclude ? RecordType::kChangeToExclude : RecordType::kChangeToInclude;
    case Pass::kAllow:
      return RecordType::kAllowNewSources;
    case Pass::kBlock:
      return RecordType::kBlockOldSources;
    case Pass::kCurrent:
      return exclude ? RecordType::kModeIsExclude : RecordType::kModeIsInclude;
    case Pass::kAsked:
      return RecordType::kModeIsInclude;
    case Pass::kGroup:
      break;
  }
  if (emission_.cause != Cause::kChange) return RecordType::kModeIsExclude;
  return entry.state == State::kJoined ? RecordType::kChangeToExclude
                                       : RecordType::kChangeToInclude;
}

// False: the room is full, the rest comes with the next one.
bool ReportSchedule::emit(RecordRoom& room) {
  const Entry& entry = entries_[emission_.slot];
  if (!emit_pass(entry, room)) return false;
  if (emission_.pass != Pass::kAllow) return true;
  emission_.pass = Pass::kBlock;
  emission_.source = entry.sources.first;
  return emit_pass(entry, room);
}

// A record of all but some sources cannot be split: a second one would contradict the first. What
// is too long for a frame is cut, and the router lets some more through (RFC 3376 4.2.16).
bool ReportSchedule::emit_pass(const Entry& entry, RecordRoom& room) {
  if (emission_.pass == Pass::kGroup) {
    const bool is_news = emission_.cause != Cause::kChange || entry.members_left > 0;
    return !is_news || room.open(record_type(entry), entry.group, 0);
  }
  uint32_t& at = emission_.source;
  const auto seek = [&] {
    while (at != kNoSlot && !is_named(entry, reports_[at])) at = sources_.next(at);
  };
  seek();
  const bool without_sources = emission_.pass == Pass::kMode || emission_.pass == Pass::kCurrent;
  if (at == kNoSlot && (emission_.opened || !without_sources)) return true;
  const RecordType type = record_type(entry);
  const bool whole = type == RecordType::kModeIsExclude || type == RecordType::kChangeToExclude;
  const uint32_t least = at == kNoSlot ? 0 : 1;
  if (!room.open(type, entry.group, whole ? entry.wanted_count : least)) return false;
  emission_.opened = true;
  for (; at != kNoSlot; seek()) {
    if (!room.add_source(sources_.address(at))) return whole;
    reports_[at].announced |= reports_[at].wanted;
    at = sources_.next(at);
  }
  return true;
}

void ReportSchedule::finish(const Repeat& repeat) {
  const uint32_t slot = emission_.slot;
  Entry& entry = entries_[slot];
  if (emission_.cause == Cause::kChange) {
    finish_change(entry, repeat);
  } else {
    entry.response_due = kNever;
    if (emission_.cause == Cause::kWalk) {
      walk_due_ += walk_step_;
      ++walk_at_;
    }
  }
  settle_sources(entry);
  emission_ = {};
  if (entry.state == State::kLeaving && entry.changes_left == 0) return free_slot(slot);
  update_due(slot);
}

// A report of the mode tells all that an answer would.
void ReportSchedule::finish_change(Entry& entry, const Repeat& repeat) {
  const bool joined = entry.state == State::kJoined;
  if (emission_.pass != Pass::kBlock) entry.response_due = kNever;
  if (emission_.pass == Pass::kMode) --entry.modes_left;
  if (entry.members_left > 0) --entry.members_left;
  if (--entry.changes_left == 0) {
    entry.change_due = kNever;
    entry.modes_left = entry.members_left = 0;
  } else {
    entry.change_due = joined ? repeat.join : repeat.leave;
  }
}

// After a report: what was told, and what nobody needs any more.
void ReportSchedule::settle_sources(Entry& entry) {
  const bool change = emission_.cause == Cause::kChange;
  const bool answered = entry.response_due == kNever;
  if (answered) entry.asked = false;
  for (uint32_t s = entry.sources.first; s != kNoSlot;) {
    const uint32_t next = sources_.next(s);
    SourceReport& report = reports_[s];
    report.announced |= report.wanted;
    if (change && report.changes_left > 0) --report.changes_left;
    if (change && entry.changes_left == 0) report.changes_left = 0;
    if (answered) report.asked = false;
    if (!report.wanted && !report.asked && report.changes_left == 0) free_source(s);
    s = next;
  }
}

}  // namespace uroce::group
