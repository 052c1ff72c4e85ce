// SPDX-License-Identifier: BSD-3-Clause
// The timers of an engine's queue pairs: a hierarchical wheel with its nodes inside the contexts.
//
// Time is cut into ticks of 1.024 us. A timer lies on the level of the highest bit group (six bits
// each) in which its tick differs from the wheel's current tick, in the bucket that this group of
// its tick names. Hence: all timers of one level share the bits above with the current tick, so no
// level ever wraps; the earliest timer is in the first used bucket of the lowest used level; and
// moving the current tick up to that bucket's start breaks nothing. When the start of a bucket
// above level 0 is reached, its timers are spread over the levels below (the cascade): a timer
// moves at most once per level. One 64-bit word per level says which buckets are used, so adding,
// removing and finding the next expiry look at no queue pair but the one concerned.
//
// Nine levels of 64 cover the whole range of Time: nothing is clamped.
//
// Timers are lazy: the truth is transport::next_deadline(), the wheel only promises to hand the
// queue pair out no later than that (rounded up to a tick). Most deadlines are pushed away long
// before they come, so an entry is moved only when the deadline came nearer; one that comes out too
// soon is put back by its owner. A timer never comes out before the time it was armed for.
#ifndef UROCE_ENGINE_TIMER_WHEEL_H
#define UROCE_ENGINE_TIMER_WHEEL_H

#include <array>
#include <bit>
#include <cstdint>

#include "base/types.h"
#include "transport/qp_context.h"

namespace uroce::engine {

class TimerWheel {
 public:
  static constexpr int64_t kTickNs = 1024;

  // Makes sure that pop_due() gives `qp` out no earlier than `deadline` if it was not armed, and
  // no later than one tick behind it in any case. kNever changes nothing. A deadline that has
  // passed comes out at the tick after `now`: a queue pair is given out at most once per turn.
  void arm(transport::QpContext& qp, Time deadline, Time now);

  // Takes the queue pair out, if it is in.
  void cancel(transport::QpContext& qp);

  // The next queue pair whose time has come, taken out; nullptr when there is none.
  transport::QpContext* pop_due(Time now);

  // When pop_due() should be called: never later than the earliest timer, sooner when timers are
  // to be spread over lower levels. kNever when the wheel is empty. Looks at one word per level.
  Time next_expiry() const;

  // Every queue pair in the wheel, in no order that means anything. `visit` must not arm or cancel.
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (transport::QpContext* head : buckets_) {
      for (transport::QpContext* qp = head; qp != nullptr; qp = qp->timer_next) visit(*qp);
    }
  }

 private:
  static constexpr uint32_t kLevelBits = 6;
  static constexpr uint32_t kBuckets = 1u << kLevelBits;
  static constexpr uint32_t kLevels = 9;

  static uint64_t tick_before(Time time);
  static uint64_t tick_after(Time time);
  bool first_bucket(uint32_t& level, uint32_t& bucket) const;
  uint64_t start_of(uint32_t level, uint32_t bucket) const;
  void insert(transport::QpContext& qp, uint64_t tick);
  void unlink(transport::QpContext& qp);

  uint64_t current_ = 0;  // no timer is before this tick
  std::array<uint64_t, kLevels> used_{};
  std::array<transport::QpContext*, size_t{kLevels} * kBuckets> buckets_{};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_TIMER_WHEEL_H
