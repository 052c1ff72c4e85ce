// SPDX-License-Identifier: BSD-3-Clause
// Tests of work on EAL's interrupt thread.
#include "nic/interrupt_thread.h"

#include <gtest/gtest.h>
#include <rte_interrupts.h>

#include <thread>

namespace uroce::nic {
namespace {

TEST(InterruptThread, DoesTheWorkBeforeTheCallReturns) {
  EXPECT_FALSE(is_interrupt_thread());
  int on_it = 0;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    on_interrupt_thread([&] {
      on_it += is_interrupt_thread() ? 1 : 0;
      ++runs;
    });
    ASSERT_EQ(runs, i + 1);
  }
  EXPECT_EQ(on_it, 100);
}

TEST(InterruptThread, WorksForOneAfterTheOther) {
  int running = 0;
  int total = 0;
  const auto work = [&] {
    ++running;
    EXPECT_EQ(running, 1);
    std::this_thread::yield();
    ++total;
    --running;
  };
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) on_interrupt_thread(work);
  });
  for (int i = 0; i < 50; ++i) on_interrupt_thread(work);
  other.join();
  EXPECT_EQ(total, 100);
}

}  // namespace
}  // namespace uroce::nic
