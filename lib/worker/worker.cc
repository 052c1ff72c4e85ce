// SPDX-License-Identifier: BSD-3-Clause
// The worker's lcore: its loops in turn until it is told to stop.
#include "worker/worker.h"

#include <absl/strings/str_format.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

namespace uroce::worker {

absl::Status Worker::start() {
  if (!rte_lcore_is_enabled(lcore_)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("core %d is not one of EAL's: add it to the EAL option -l, such as -l 0,%d",
                        lcore_, lcore_));
  }
  if (lcore_ == rte_get_main_lcore()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "core %d is EAL's main lcore, which the application has: give another one to --cores, or "
        "use --mode inline",
        lcore_));
  }
  if (rte_eal_remote_launch(&Worker::main, this, lcore_) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "core %d is busy with something else: give another one to --cores", lcore_));
  }
  started_ = true;
  return absl::OkStatus();
}

void Worker::stop() {
  if (!started_) return;
  stopping_.store(true, std::memory_order_release);
  rte_eal_wait_lcore(lcore_);
  started_ = false;
}

int Worker::main(void* self) {
  static_cast<Worker*>(self)->run();
  return 0;
}

void Worker::run() {
  while (!stopping_.load(std::memory_order_acquire)) {
    const Time now = clock_.now();
    uint32_t moved = 0;
    for (Loop* loop : loops_) {
      moved += loop->turn(now);
      if (holds_event_) holds_event_ = !events_.push(lane_, held_event_);
      while (!holds_event_ && loop->next_event(held_event_)) {
        holds_event_ = !events_.push(lane_, held_event_);
      }
    }
    if (moved == 0) rte_pause();
  }
}

}  // namespace uroce::worker
