// SPDX-License-Identifier: BSD-3-Clause
// The control thread: looks, and sleeps in between on a futex that only its end wakes.
#include "worker/control_thread.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace uroce::worker {
namespace {

// std::atomic::wait has no time limit, so the futex is called directly.
void futex_wait(std::atomic<uint32_t>& word, uint32_t while_equal, Duration limit) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000);
  time.tv_nsec = static_cast<long>(limit.count() % 1'000'000'000);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_equal, &time, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

Time now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Time{Duration(time.tv_sec * 1'000'000'000 + time.tv_nsec)};
}

}  // namespace

ControlThread::ControlThread(uint32_t lanes, EventSink sink, void (*tick)(void*),
                             void* tick_context, Duration tick_period)
    : sink_(sink), tick_(tick), tick_context_(tick_context), tick_period_(tick_period) {
  for (uint32_t i = 0; i < lanes; ++i) {
    lanes_.push_back(std::make_unique<SpscRing<transport::Event>>(kEventCapacity));
  }
  thread_ = std::thread([this] { run(); });
}

ControlThread::~ControlThread() { stop(); }

void ControlThread::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(1, std::memory_order_release);
  futex_wake(stopping_);
  thread_.join();
}

bool ControlThread::deliver_all() {
  bool any = false;
  for (auto& lane : lanes_) {
    transport::Event event{};
    while (lane->pop(event)) {
      sink_.deliver(sink_.context, event);
      any = true;
    }
  }
  return any;
}

void ControlThread::run() {
  pthread_setname_np(pthread_self(), "uroce-control");
  // A wait ends when it says, not up to 50 us later.
  prctl(PR_SET_TIMERSLACK, 1UL);
  Time next_tick = now();
  Time last_event = next_tick;
  for (;;) {
    const bool stopping = stopping_.load(std::memory_order_acquire) != 0;
    if (deliver_all()) last_event = now();
    if (stopping) return;
    const Time time = now();
    if (time >= next_tick) {
      tick_(tick_context_);
      next_tick = time + tick_period_;
    }
    const Duration to_tick = std::max(next_tick - now(), Duration(1));
    // Without producers there is nothing to look at.
    futex_wait(stopping_, 0,
               lanes_.empty() ? to_tick : std::min(to_tick, pause_after(time - last_event)));
  }
}

}  // namespace uroce::worker
