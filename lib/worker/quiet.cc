// SPDX-License-Identifier: BSD-3-Clause
// Compares the loops' counters with those of the last movement.
#include "worker/quiet.h"

#include <algorithm>

namespace uroce::worker {

Quiet::Quiet(const std::vector<const LoopCounters*>& loops) {
  for (const LoopCounters* counters : loops) loops_.push_back({counters, 0});
}

bool Quiet::reached(Time now) {
  uint64_t busy_turns = 0;
  for (const Watched& loop : loops_) busy_turns += loop.counters->busy_turns.value();
  if (since_ == kNever || busy_turns != busy_turns_) {
    busy_turns_ = busy_turns;
    since_ = now;
    for (Watched& loop : loops_) loop.turns = loop.counters->turns.value();
    return false;
  }
  return now - since_ >= kLeast && std::all_of(loops_.begin(), loops_.end(), [](const Watched& w) {
           return w.counters->turns.value() - w.turns >= kTurnsLeast;
         });
}

}  // namespace uroce::worker
