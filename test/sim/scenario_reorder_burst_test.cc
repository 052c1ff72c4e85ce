// SPDX-License-Identifier: BSD-3-Clause
// Every frame is late by a time of its own: a burst arrives in any order.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(ReorderBurst, AMessageWhoseFramesArriveInAnyOrderIsComplete) {
  Pair pair(PairOptions{.timeout = 10});
  pair.settle();
  pair.paint();
  pair.world.faults.reorder = 1;
  pair.world.faults.reorder_delay = microseconds(30);
  pair.post_write(30'000);
  pair.run_for(milliseconds(200));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(30'000));
}

}  // namespace
}  // namespace uroce::sim
