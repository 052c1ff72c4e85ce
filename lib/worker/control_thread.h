// SPDX-License-Identifier: BSD-3-Clause
// The one thread of ours that sleeps: in worker mode it delivers events to the application, and in
// every mode it looks at slow things (link state) now and then.
//
// A worker hands events over by a ring and does not wake anybody: to wake a thread is a system
// call, and a worker makes none. So this thread looks at the rings by itself, the more often the
// shorter ago it found something: an event waits for 50 us where events are frequent, for 1 ms at
// most.
#ifndef UROCE_WORKER_CONTROL_THREAD_H
#define UROCE_WORKER_CONTROL_THREAD_H

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/spsc_ring.h"
#include "base/types.h"
#include "worker/event_sink.h"

namespace uroce::worker {

class ControlThread {
 public:
  static constexpr uint32_t kEventCapacity = 4096;
  // Between two looks at the rings.
  static constexpr Duration kPauseMin{50'000};
  static constexpr Duration kPauseMax{1'000'000};
  // An eighth of the time without an event: it can grow by no more than that.
  static constexpr Duration pause_after(Duration without_event) {
    return std::clamp(without_event / 8, kPauseMin, kPauseMax);
  }

  // `lanes`: producers of events, one ring each. `tick` is called about every `tick_period` and
  // after construction; it may block for a moment.
  ControlThread(uint32_t lanes, EventSink sink, void (*tick)(void*), void* tick_context,
                Duration tick_period);
  ~ControlThread();

  // Delivers what is left and joins the thread. Producers may go on pushing; nobody hears them.
  void stop();

  // The lane's producer. False: full; the event stays with the caller, who tries again later. Makes
  // no system call.
  bool push(uint32_t lane, const transport::Event& event) { return lanes_[lane]->push(event); }

 private:
  void run();
  bool deliver_all();

  EventSink sink_;
  void (*tick_)(void*);
  void* tick_context_;
  Duration tick_period_;
  std::vector<std::unique_ptr<SpscRing<transport::Event>>> lanes_;
  std::atomic<uint32_t> stopping_{0};  // futex word
  std::thread thread_;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_CONTROL_THREAD_H
