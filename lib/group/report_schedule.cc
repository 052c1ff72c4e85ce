// SPDX-License-Identifier: BSD-3-Clause
// The timing of membership reports. See report_schedule.h for the rules.
#include "group/report_schedule.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace uroce::group {

using wire::RecordType;

namespace {

// Room for leaves that are still being repeated beside a full set of joined groups.
constexpr uint32_t kLeavingRoomMin = 16;

}  // namespace

ReportSchedule::ReportSchedule(uint32_t groups_max, uint64_t seed)
    : groups_max_(groups_max),
      slots_(groups_max + std::max(groups_max, kLeavingRoomMin)),
      random_(seed),
      hash_(random_.next64()),
      index_(slots_),
      due_(slots_),
      entries_(std::make_unique<Entry[]>(slots_)),
      walk_at_(slots_) {
  for (uint32_t slot = slots_; slot-- > 0;) {
    entries_[slot].next_free = free_;
    free_ = slot;
  }
}

bool ReportSchedule::join(Time now, const Gid& group) {
  uint32_t slot = find(group);
  if (slot != kNoSlot && entries_[slot].state == State::kJoined) return true;
  if (joined_count_ == groups_max_) return false;
  if (slot == kNoSlot) {
    slot = take_slot();
    entries_[slot].group = group;
    index_.insert(hash_(group), slot);
  }
  ++joined_count_;
  start_change(now, slot, State::kJoined);
  return true;
}

bool ReportSchedule::leave(Time now, const Gid& group) {
  const uint32_t slot = find(group);
  if (slot == kNoSlot || entries_[slot].state != State::kJoined) return false;
  --joined_count_;
  if (entries_[slot].announced) {
    start_change(now, slot, State::kLeaving);
  } else {
    free_slot(slot);
  }
  return true;
}

void ReportSchedule::reannounce(Time now) {
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    if (entries_[slot].state == State::kJoined) start_change(now, slot, State::kJoined);
  }
}

void ReportSchedule::hurry_leaves(Time now, bool hurry) {
  leave_repeat_within_ = hurry ? kHurriedRepeatWithin : kRepeatWithin;
  if (!hurry || leaving_count() == 0) return;
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    Entry& entry = entries_[slot];
    if (entry.state != State::kLeaving || entry.change_due <= now + kHurriedRepeatWithin) continue;
    entry.change_due = now + random_.delay_within(kHurriedRepeatWithin);
    update_due(slot);
  }
}

void ReportSchedule::handle_general_query(Time now, Duration response_within, Answer answer) {
  response_within = std::max(response_within, kResponseWithinMin);
  if (answer == Answer::kAtOnce) {
    if (general_due_ <= now + response_within) return;
    general_due_ = now + random_.delay_within(response_within);
    general_step_ = {};
    return;
  }
  if (general_due_ != kNever || joined_count_ == 0) return;
  const Duration step = std::max(response_within / joined_count_, Duration(1));
  general_due_ = now + random_.delay_within(step);
  general_step_ = step;
}

void ReportSchedule::handle_group_query(Time now, const Gid& group, Duration response_within) {
  const uint32_t slot = find(group);
  if (slot == kNoSlot || entries_[slot].state != State::kJoined) return;
  response_within = std::max(response_within, kResponseWithinMin);
  // A walk that takes its time says nothing of when it comes to this group.
  const Time general = general_step_ == Duration{} ? general_due_ : kNever;
  if (std::min(general, entries_[slot].response_due) <= now + response_within) return;
  entries_[slot].response_due = now + random_.delay_within(response_within);
  update_due(slot);
}

bool ReportSchedule::suppress_answer(const Gid& group) {
  const uint32_t slot = find(group);
  if (slot == kNoSlot || entries_[slot].state != State::kJoined) return false;
  Entry& entry = entries_[slot];
  const bool awaited = walking() ? slot >= walk_at_ : general_due_ != kNever;
  const bool needless = entry.response_due != kNever || (awaited && !entry.suppressed);
  entry.suppressed |= awaited;
  entry.response_due = kNever;
  update_due(slot);
  return needless;
}

void ReportSchedule::cancel_answers() {
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    entries_[slot].suppressed = false;
    if (entries_[slot].response_due == kNever) continue;
    entries_[slot].response_due = kNever;
    update_due(slot);
  }
  general_due_ = walk_due_ = kNever;
}

uint32_t ReportSchedule::take_due(Time now, std::span<wire::GroupRecord> out) {
  uint32_t count = 0;
  Repeat repeat{kNever, kNever};
  if (due_.next() <= now) {
    const Duration delay = random_.delay_within(kRepeatWithin);
    repeat = {now + delay * (join_repeat_within_ / kRepeatWithin),
              now + delay / (kRepeatWithin / leave_repeat_within_)};
  }
  while (count < out.size() && due_.next() <= now) {
    out[count++] = take_entry(now, due_.first(), repeat);
  }
  return count + take_general(now, out.subspan(count));
}

Time ReportSchedule::poll_timeout() const {
  return std::min(due_.next(), walking() ? walk_due_ : general_due_);
}

bool ReportSchedule::is_joined(const Gid& group) const {
  const uint32_t slot = find(group);
  return slot != kNoSlot && entries_[slot].state == State::kJoined;
}

uint32_t ReportSchedule::find(const Gid& group) const {
  return index_.find(hash_(group), [&](uint32_t slot) { return entries_[slot].group == group; });
}

// There are more slots than groups that may be joined, so without a free one some group is being
// left: its entry makes room.
uint32_t ReportSchedule::take_slot() {
  if (free_ == kNoSlot) {
    while (entries_[evict_from_].state != State::kLeaving) evict_from_ = (evict_from_ + 1) % slots_;
    free_slot(evict_from_);
    ++leaves_cut_short_;
  }
  const uint32_t slot = free_;
  free_ = entries_[slot].next_free;
  return slot;
}

void ReportSchedule::free_slot(uint32_t slot) {
  index_.erase(hash_(entries_[slot].group), slot,
               [this](uint32_t other) { return hash_(entries_[other].group); });
  due_.clear(slot);
  set_state(entries_[slot], State::kFree);
  entries_[slot] = Entry{};
  entries_[slot].next_free = free_;
  free_ = slot;
}

void ReportSchedule::start_change(Time now, uint32_t slot, State state) {
  Entry& entry = entries_[slot];
  set_state(entry, state);
  entry.suppressed = false;
  entry.changes_left = robustness_;
  entry.change_due = now;
  update_due(slot);
}

void ReportSchedule::set_state(Entry& entry, State state) {
  uint32_t leaving = leaving_count();
  leaving -= entry.state == State::kLeaving ? 1 : 0;
  leaving += state == State::kLeaving ? 1 : 0;
  leaving_count_.store(leaving, std::memory_order_relaxed);
  entry.state = state;
}

void ReportSchedule::update_due(uint32_t slot) {
  due_.set(slot, std::min(entries_[slot].change_due, entries_[slot].response_due));
}

// The record of an entry that is due. A change report tells all that an answer would.
wire::GroupRecord ReportSchedule::take_entry(Time now, uint32_t slot, const Repeat& repeat) {
  Entry& entry = entries_[slot];
  wire::GroupRecord record{RecordType::kModeIsExclude, entry.group, {}};
  entry.response_due = kNever;
  if (entry.change_due <= now) {
    const bool joined = entry.state == State::kJoined;
    record.type = joined ? RecordType::kChangeToExclude : RecordType::kChangeToInclude;
    entry.announced = joined;
    if (--entry.changes_left == 0) {
      entry.change_due = kNever;
    } else {
      entry.change_due = joined ? repeat.join : repeat.leave;
    }
    if (!joined && entry.changes_left == 0) {
      free_slot(slot);
      return record;
    }
  }
  update_due(slot);
  return record;
}

// The records of the walk that are due; a walk that waited for its time begins.
uint32_t ReportSchedule::take_general(Time now, std::span<wire::GroupRecord> out) {
  if (!walking() && general_due_ <= now) {
    walk_due_ = now;
    walk_step_ = general_step_;
    walk_at_ = 0;
    general_due_ = kNever;
  }
  uint32_t count = 0;
  for (; walk_due_ <= now && walk_at_ < slots_ && count < out.size(); ++walk_at_) {
    Entry& entry = entries_[walk_at_];
    if (entry.state != State::kJoined) continue;
    walk_due_ += walk_step_;
    if (std::exchange(entry.suppressed, false)) continue;
    out[count++] = {RecordType::kModeIsExclude, entry.group, {}};
    entry.announced = true;
    entry.response_due = kNever;
    update_due(walk_at_);
  }
  if (walk_at_ == slots_) walk_due_ = kNever;
  return count;
}

}  // namespace uroce::group
