// SPDX-License-Identifier: BSD-3-Clause
// The timing of membership reports. See report_schedule.h for the rules.
#include "group/report_schedule.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace uroce::group {

namespace {

// Room for what is still to be told of beside all that is wanted.
uint32_t with_room_to_tell(uint32_t wanted_max) {
  constexpr uint32_t kLeast = 16;
  return wanted_max + std::max(wanted_max, kLeast);
}

}  // namespace

ReportSchedule::ReportSchedule(uint32_t groups_max, uint32_t sources_max, uint64_t seed)
    : groups_max_(groups_max),
      sources_max_(sources_max),
      slots_(with_room_to_tell(groups_max)),
      random_(seed),
      hash_(random_.next64()),
      index_(slots_),
      due_(slots_),
      entries_(std::make_unique<Entry[]>(slots_)),
      source_slots_(with_room_to_tell(sources_max)),
      sources_(source_slots_, random_.next64()),
      reports_(std::make_unique<SourceReport[]>(source_slots_)),
      walk_at_(slots_) {
  for (uint32_t slot = slots_; slot-- > 0;) {
    entries_[slot].next_free = free_;
    free_ = slot;
  }
}

bool ReportSchedule::set_filter(Time now, const Gid& group, const SourceFilter& filter) {
  uint32_t slot = find(group);
  if (slot == kNoSlot && filter.is_nothing()) return true;
  const bool joined = slot != kNoSlot && entries_[slot].state == State::kJoined;
  if (!filter.is_nothing() && !joined && joined_count_ == groups_max_) return false;
  const uint32_t others = wanted_count_ - (slot == kNoSlot ? 0 : entries_[slot].wanted_count);
  if (filter.sources.size() > sources_max_ - others) return false;
  if (slot == kNoSlot) {
    slot = take_slot();
    entries_[slot].group = group;
    index_.insert(hash_(group), slot);
  }
  change(now, slot, filter);
  return true;
}

// From a mode that is new follows all else, so what was still to be told of the old one is void.
void ReportSchedule::change(Time now, uint32_t slot, const SourceFilter& filter) {
  give_up_emission(slot);
  Entry& entry = entries_[slot];
  const bool mode_changes = entry.mode != filter.mode;
  if (mode_changes) {
    free_sources(entry);
    entry.mode = filter.mode;
    entry.modes_left = robustness_;
  }
  const bool sources_change = put_sources(slot, filter.sources);
  const State state = filter.is_nothing() ? State::kLeaving : State::kJoined;
  const bool members_change = state != entry.state;
  set_state(entry, state);
  if (state == State::kLeaving && !entry.announced) return free_slot(slot);
  if (members_change) entry.members_left = robustness_;
  if (mode_changes || sources_change || members_change) start_change(now, slot);
}

void ReportSchedule::reannounce(Time now) {
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    Entry& entry = entries_[slot];
    if (entry.state != State::kJoined) continue;
    give_up_emission(slot);
    entry.members_left = robustness_;
    if (entry.mode == FilterMode::kExclude) entry.modes_left = robustness_;
    for (uint32_t s = entry.sources.first; s != kNoSlot; s = sources_.next(s)) {
      if (reports_[s].wanted) reports_[s].changes_left = robustness_;
    }
    start_change(now, slot);
  }
}

void ReportSchedule::set_by_records(bool by_records) {
  if (std::exchange(by_records_, by_records) != by_records) emission_ = {};
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

void ReportSchedule::handle_group_query(Time now, const Gid& group, Duration response_within,
                                        std::span<const uint8_t> sources) {
  const uint32_t slot = find(group);
  if (slot == kNoSlot || entries_[slot].state != State::kJoined) return;
  Entry& entry = entries_[slot];
  response_within = std::max(response_within, kResponseWithinMin);
  // A walk that takes its time says nothing of when it comes to this group.
  const Time general = general_step_ == Duration{} ? general_due_ : kNever;
  if (general <= now + response_within) return;
  if (sources.empty()) {
    entry.asked = false;
  } else if (entry.response_due == kNever || entry.asked) {
    entry.asked = ask_for(slot, sources);
  }
  if (entry.response_due <= now + response_within) return;
  entry.response_due = now + random_.delay_within(response_within);
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
    entries_[slot].asked = false;
    entries_[slot].response_due = kNever;
    update_due(slot);
  }
  general_due_ = walk_due_ = kNever;
  if (emission_.cause != Cause::kChange) emission_ = {};
}

bool ReportSchedule::take_due(Time now, RecordRoom& room) {
  Repeat repeat{kNever, kNever};
  if (due_.next() <= now) {
    const Duration delay = random_.delay_within(kRepeatWithin);
    repeat = {now + delay * (join_repeat_within_ / kRepeatWithin),
              now + delay / (kRepeatWithin / leave_repeat_within_)};
  }
  while (true) {
    if (emission_.cause != Cause::kNone) {
      if (!emit(room)) break;
      finish(repeat);
    } else if (due_.next() <= now) {
      const uint32_t slot = due_.first();
      begin(slot, entries_[slot].change_due <= now ? Cause::kChange : Cause::kAnswer);
    } else if (!begin_general(now)) {
      break;
    }
  }
  return !room.empty();
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
  Entry& entry = entries_[slot];
  give_up_emission(slot);
  free_sources(entry);
  index_.erase(hash_(entry.group), slot,
               [this](uint32_t other) { return hash_(entries_[other].group); });
  due_.clear(slot);
  set_state(entry, State::kFree);
  entry = Entry{};
  entry.next_free = free_;
  free_ = slot;
}

void ReportSchedule::start_change(Time now, uint32_t slot) {
  Entry& entry = entries_[slot];
  entry.suppressed = false;
  entry.changes_left = robustness_;
  entry.change_due = now;
  update_due(slot);
}

void ReportSchedule::set_state(Entry& entry, State state) {
  joined_count_ -= entry.state == State::kJoined ? 1 : 0;
  joined_count_ += state == State::kJoined ? 1 : 0;
  uint32_t leaving = leaving_count();
  leaving -= entry.state == State::kLeaving ? 1 : 0;
  leaving += state == State::kLeaving ? 1 : 0;
  leaving_count_.store(leaving, std::memory_order_relaxed);
  entry.state = state;
}

void ReportSchedule::update_due(uint32_t slot) {
  due_.set(slot, std::min(entries_[slot].change_due, entries_[slot].response_due));
}

}  // namespace uroce::group
