// SPDX-License-Identifier: BSD-3-Clause
// When the turns of a loop begin, whoever runs them: an engine's time never goes back.
//
// Where threads run turns by turns, one that has read the clock may lose its CPU before it has the
// engine, for milliseconds, in which others run theirs.
#ifndef UROCE_WORKER_TURN_TIMES_H
#define UROCE_WORKER_TURN_TIMES_H

#include <algorithm>

#include "base/types.h"

namespace uroce::worker {

class TurnTimes {
 public:
  // The time of a turn that begins at `now`: at the earliest that of the turn before.
  Time begin(Time now) {
    const Time before = last_ != kNever ? last_ : now;
    last_ = std::max(now, before);
    gap_ = last_ - before;
    return last_;
  }
  // Between the last turn and the one before it; of the first, 0.
  Duration gap() const { return gap_; }

 private:
  Time last_ = kNever;
  Duration gap_{};
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_TURN_TIMES_H
