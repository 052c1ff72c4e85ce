// SPDX-License-Identifier: BSD-3-Clause
// The hierarchical timer wheel: see timer_wheel.h for the invariants.
#include "engine/timer_wheel.h"

#include <algorithm>

#include "base/assert.h"

namespace uroce::engine {

using transport::QpContext;

// The last tick that has begun at `time`. Times before the origin count as the origin.
uint64_t TimerWheel::tick_before(Time time) {
  const int64_t ns = time.time_since_epoch().count();
  return ns <= 0 ? 0 : static_cast<uint64_t>(ns / kTickNs);
}

// The first tick that does not begin before `time`.
uint64_t TimerWheel::tick_after(Time time) {
  const int64_t ns = time.time_since_epoch().count();
  return ns <= 0 ? 0 : static_cast<uint64_t>((ns - 1) / kTickNs) + 1;
}

bool TimerWheel::first_bucket(uint32_t& level, uint32_t& bucket) const {
  for (level = 0; level < kLevels; ++level) {
    if (used_[level] == 0) continue;
    bucket = static_cast<uint32_t>(std::countr_zero(used_[level]));
    return true;
  }
  return false;
}

// The first tick of a bucket: the current tick's bits above the level, then the bucket's number.
uint64_t TimerWheel::start_of(uint32_t level, uint32_t bucket) const {
  const uint32_t shift = kLevelBits * level;
  return (current_ >> shift >> kLevelBits << kLevelBits | bucket) << shift;
}

void TimerWheel::insert(QpContext& qp, uint64_t tick) {
  UROCE_DEBUG_ASSERT(tick >= current_);
  const auto highest = static_cast<uint32_t>(std::bit_width((tick ^ current_) | 1)) - 1;
  const uint32_t level = highest / kLevelBits;
  const auto bucket = static_cast<uint32_t>(tick >> (kLevelBits * level)) & (kBuckets - 1);
  qp.timer_bucket = level * kBuckets + bucket;
  QpContext*& head = buckets_[qp.timer_bucket];
  qp.timer_previous = nullptr;
  qp.timer_next = head;
  if (head != nullptr) head->timer_previous = &qp;
  head = &qp;
  used_[level] |= uint64_t{1} << bucket;
}

void TimerWheel::unlink(QpContext& qp) {
  QpContext*& head = buckets_[qp.timer_bucket];
  if (qp.timer_previous != nullptr) {
    qp.timer_previous->timer_next = qp.timer_next;
  } else {
    head = qp.timer_next;
  }
  if (qp.timer_next != nullptr) qp.timer_next->timer_previous = qp.timer_previous;
  if (head == nullptr) {
    used_[qp.timer_bucket / kBuckets] &= ~(uint64_t{1} << (qp.timer_bucket % kBuckets));
  }
  qp.timer_next = qp.timer_previous = nullptr;
}

void TimerWheel::arm(QpContext& qp, Time deadline, Time now) {
  if (deadline >= qp.timer_armed_for) return;
  if (qp.timer_armed_for != kNever) unlink(qp);
  const uint64_t now_tick = tick_before(now);
  uint32_t level = 0;
  uint32_t bucket = 0;
  // An empty wheel has nothing to hand out in between; this keeps near timers on low levels.
  if (now_tick > current_ && !first_bucket(level, bucket)) current_ = now_tick;
  qp.timer_armed_for = deadline;
  insert(qp, std::max(tick_after(deadline), std::max(now_tick, current_) + 1));
}

void TimerWheel::cancel(QpContext& qp) {
  if (qp.timer_armed_for == kNever) return;
  unlink(qp);
  qp.timer_armed_for = kNever;
}

QpContext* TimerWheel::pop_due(Time now) {
  const uint64_t now_tick = tick_before(now);
  uint32_t level = 0;
  uint32_t bucket = 0;
  while (first_bucket(level, bucket)) {
    const uint64_t start = start_of(level, bucket);
    if (start > now_tick) break;
    QpContext*& head = buckets_[level * kBuckets + bucket];
    if (level == 0) {
      QpContext& due = *head;
      unlink(due);
      due.timer_armed_for = kNever;
      return &due;
    }
    // The cascade. A timer of this very tick lands on level 0, where the next look finds it. One
    // that was armed for a time that had passed already may name an earlier tick.
    current_ = start;
    while (head != nullptr) {
      QpContext& qp = *head;
      unlink(qp);
      insert(qp, std::max(tick_after(qp.timer_armed_for), start));
    }
  }
  current_ = std::max(current_, now_tick);
  return nullptr;
}

Time TimerWheel::next_expiry() const {
  uint32_t level = 0;
  uint32_t bucket = 0;
  if (!first_bucket(level, bucket)) return kNever;
  constexpr auto kLastTick = static_cast<uint64_t>(INT64_MAX / kTickNs);
  const uint64_t start = std::min(start_of(level, bucket), kLastTick);
  return Time(Duration(static_cast<int64_t>(start) * kTickNs));
}

}  // namespace uroce::engine
