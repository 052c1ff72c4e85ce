// SPDX-License-Identifier: BSD-3-Clause
// The one thread of ours that sleeps: in worker mode it delivers events to the application, and in
// every mode it looks at slow things (link state) now and then.
//
// A worker hands events over by a ring and wakes this thread only when it sleeps; that is the one
// system call a worker may make, and only for an event that the application armed or must hear of.
#ifndef UROCE_WORKER_CONTROL_THREAD_H
#define UROCE_WORKER_CONTROL_THREAD_H

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

  // `lanes`: producers of events, one ring each. `tick` is called about every `tick_period` and
  // after construction; it may block for a moment.
  ControlThread(uint32_t lanes, EventSink sink, void (*tick)(void*), void* tick_context,
                Duration tick_period);
  ~ControlThread();

  // Delivers what is left and joins the thread. Producers may go on pushing; nobody hears them.
  void stop();

  // The lane's producer. False: full; the event stays with the caller, who tries again later.
  bool push(uint32_t lane, const transport::Event& event);

 private:
  void run();
  bool deliver_all();

  EventSink sink_;
  void (*tick_)(void*);
  void* tick_context_;
  Duration tick_period_;
  std::vector<std::unique_ptr<SpscRing<transport::Event>>> lanes_;
  std::atomic<uint32_t> wake_{0};  // futex word: 1 asks for a look
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_CONTROL_THREAD_H
