// SPDX-License-Identifier: BSD-3-Clause
// The control thread: sleeps on a futex with a period, wakes for events.
#include "worker/control_thread.h"

#include <linux/futex.h>
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
  stopping_.store(true, std::memory_order_release);
  wake_.store(1, std::memory_order_seq_cst);
  futex_wake(wake_);
  thread_.join();
}

bool ControlThread::push(uint32_t lane, const transport::Event& event) {
  if (!lanes_[lane]->push(event)) return false;
  if (wake_.exchange(1, std::memory_order_seq_cst) == 0) futex_wake(wake_);
  return true;
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
  timespec last{};
  bool ticked = false;
  for (;;) {
    const bool stopping = stopping_.load(std::memory_order_acquire);
    // Asked for before the look: an event pushed during the look asks again.
    wake_.store(0, std::memory_order_seq_cst);
    const bool any = deliver_all();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t since = (now.tv_sec - last.tv_sec) * 1'000'000'000 + now.tv_nsec - last.tv_nsec;
    if (!stopping && (!ticked || since >= tick_period_.count())) {
      tick_(tick_context_);
      last = now;
      ticked = true;
    }
    if (stopping) return;
    if (!any) futex_wait(wake_, 0, tick_period_);
  }
}

}  // namespace uroce::worker
