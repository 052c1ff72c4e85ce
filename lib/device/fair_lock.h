// SPDX-License-Identifier: BSD-3-Clause
// A lock that goes round in the order in which it was asked for.
//
// A ticket for each caller, and a counter of the ticket that is served. With std::mutex a thread
// that gives the lock up and takes it again at once almost always wins over those that sleep; here
// it stands behind them. For control calls that may last milliseconds, not for the packet path.
#ifndef UROCE_DEVICE_FAIR_LOCK_H
#define UROCE_DEVICE_FAIR_LOCK_H

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace uroce::device {

// Any thread. Works with std::lock_guard.
class FairLock {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    const uint64_t ticket = next_ticket_++;
    turn_.wait(guard, [&] { return ticket == served_; });
  }
  void unlock() {
    {
      const std::lock_guard guard(mutex_);
      ++served_;
    }
    turn_.notify_all();
  }
  // How many have the lock or wait for it.
  uint64_t queue_length() {
    const std::lock_guard guard(mutex_);
    return next_ticket_ - served_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  uint64_t next_ticket_ = 0;
  uint64_t served_ = 0;
};

}  // namespace uroce::device

#endif  // UROCE_DEVICE_FAIR_LOCK_H
