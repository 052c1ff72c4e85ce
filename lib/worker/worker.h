// SPDX-License-Identifier: BSD-3-Clause
// Worker mode: lcores that hold engines for ever and run their loops in turn.
#ifndef UROCE_WORKER_WORKER_H
#define UROCE_WORKER_WORKER_H

#include <absl/status/status.h>

#include <atomic>
#include <memory>
#include <vector>

#include "worker/clock.h"
#include "worker/control_thread.h"
#include "worker/loop.h"

namespace uroce::worker {

// One polling lcore with the loops it runs.
class Worker {
 public:
  // `events`: where the loops' events go; lane `lane` is this worker's.
  Worker(uint32_t lcore, const TscClock& clock, ControlThread& events, uint32_t lane)
      : lcore_(lcore), clock_(clock), events_(events), lane_(lane) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Before start.
  void add(Loop* loop) { loops_.push_back(loop); }
  // Launches on the lcore; an error names the lcore and the cure.
  absl::Status start();
  // Returns when the lcore has left its loops.
  void stop();

  uint32_t lcore() const { return lcore_; }

 private:
  static int main(void* self);
  void run();

  const uint32_t lcore_;
  const TscClock& clock_;
  ControlThread& events_;
  const uint32_t lane_;
  std::vector<Loop*> loops_;
  std::atomic<bool> stopping_{false};
  bool started_ = false;
  // An event that found the lane full; it goes first next time.
  transport::Event held_event_{};
  bool holds_event_ = false;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_WORKER_H
