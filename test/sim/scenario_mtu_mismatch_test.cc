// SPDX-License-Identifier: BSD-3-Clause
// Two ends, or the wire between them, do not agree on the MTU.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(MtuMismatch, APacketAboveThePeersMtuEndsTheConnectionWithAWord) {
  Pair pair(PairOptions{.timeout = 8, .mtu = {IB_MTU_2048, IB_MTU_1024}});
  pair.settle();
  pair.post_write(1000);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS}) << "fits both";
  pair.post_write(1500);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_REM_INV_REQ_ERR});
}

TEST(MtuMismatch, APacketThatThePathDoesNotCarryRunsIntoRetriesAndSmallOnesPass) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.world.faults.frame_bytes_max = 600;
  pair.post_write(500);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  pair.post_write(1000);
  pair.run_for(milliseconds(100));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_RETRY_EXC_ERR});
  EXPECT_GE(pair.world.counters().oversize, 8u);
}

}  // namespace
}  // namespace uroce::sim
