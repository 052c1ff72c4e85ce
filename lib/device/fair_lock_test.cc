// SPDX-License-Identifier: BSD-3-Clause
// Tests of the lock that goes round in order.
#include "device/fair_lock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace uroce::device {
namespace {

// Waits until `length` callers have the lock or stand in line.
void wait_for_queue(FairLock& lock, uint64_t length) {
  while (lock.queue_length() != length) std::this_thread::yield();
}

TEST(FairLock, WhoTakesItAgainStandsBehindThoseThatWait) {
  for (int round = 0; round < 100; ++round) {
    FairLock lock;
    bool other_had_it = false;
    lock.lock();
    std::thread other([&] {
      const std::lock_guard guard(lock);
      other_had_it = true;
    });
    wait_for_queue(lock, 2);
    lock.unlock();
    lock.lock();
    EXPECT_TRUE(other_had_it);
    lock.unlock();
    other.join();
  }
}

TEST(FairLock, GoesRoundInTheOrderOfAsking) {
  FairLock lock;
  std::vector<int> order;
  std::vector<std::thread> threads;
  lock.lock();
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&lock, &order, i] {
      const std::lock_guard guard(lock);
      order.push_back(i);
    });
    wait_for_queue(lock, static_cast<uint64_t>(i) + 2);
  }
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace uroce::device
