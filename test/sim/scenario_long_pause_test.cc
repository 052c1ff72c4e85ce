// SPDX-License-Identifier: BSD-3-Clause
// A pause (PFC) that is longer than the ACK timeout.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(LongPause, AnAckThatMayNotLeaveInTimeCostsARetryAndNothingElse) {
  Pair pair(PairOptions{.timeout = 8});  // 1.05 ms
  pair.settle();
  pair.paint();
  pair.world.pause(pair.right, milliseconds(3));
  pair.post_write(2000);
  pair.run_for(milliseconds(2));
  EXPECT_TRUE(pair.written(2000)) << "a paused host still receives";
  EXPECT_TRUE(Pair::statuses(pair.a).empty());
  EXPECT_GE(pair.counters(0).local_ack_timeout_err.value(), 1u);
  pair.run_for(milliseconds(10));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
}

}  // namespace
}  // namespace uroce::sim
