// SPDX-License-Identifier: BSD-3-Clause
// The lock of one work queue or completion queue, between application threads. Held for a few
// stores; switched off where one thread does everything.
#ifndef UROCE_DEVICE_SPIN_LOCK_H
#define UROCE_DEVICE_SPIN_LOCK_H

#include <sched.h>

#include <atomic>

namespace uroce::device {

class SpinLock {
 public:
  void lock() {
    for (unsigned tries = 1; held_.exchange(true, std::memory_order_acquire); ++tries) {
      while (held_.load(std::memory_order_relaxed)) {
        // The holder may have lost the CPU, perhaps this very one.
        if (tries++ % 64 == 0) {
          sched_yield();
        } else {
          __builtin_ia32_pause();
        }
      }
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// Holds the lock for a scope, unless `exclusive`.
class SpinGuard {
 public:
  SpinGuard(SpinLock& lock, bool exclusive) : lock_(exclusive ? nullptr : &lock) {
    if (lock_ != nullptr) lock_->lock();
  }
  ~SpinGuard() {
    if (lock_ != nullptr) lock_->unlock();
  }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock* const lock_;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_SPIN_LOCK_H
