// SPDX-License-Identifier: BSD-3-Clause
// Look, move, sleep.
#include "ibverbs/progress.h"

#include <algorithm>

namespace uroce::ibverbs {

Duration Pace::pause(Duration idle, bool others, Duration to_timer) const {
  // A poller sees the next packet sooner than we would: no need to fight for the engines with it.
  if (!others && idle < spin) return Duration(0);
  const Duration longest = std::max(sleep_max, Duration(1));
  // An eighth of the time without a find: what a packet waits is little beside what it was away.
  const Duration wanted = std::clamp(idle / 8, std::min(kSleepMin, longest), longest);
  return std::clamp(to_timer, Duration(0), wanted);
}

void Progress::step() {
  const uint64_t before = driver_.turns();
  const bool others = before != turns_;
  Time next = kNever;
  const uint32_t moved = driver_.drive(next);
  turns_ = driver_.turns();
  const Time now = driver_.now();
  if (moved != 0) last_find_ = now;
  const Duration to_timer = next == kNever ? Duration::max() : next - now;
  const Duration pause = pace_.pause(now - last_find_, others, to_timer);
  if (pause > Duration(0)) driver_.sleep(pause);
}

void Progress::run() {
  last_find_ = driver_.now();
  turns_ = driver_.turns();
  while (!stopping_.load(std::memory_order_acquire)) step();
}

}  // namespace uroce::ibverbs
