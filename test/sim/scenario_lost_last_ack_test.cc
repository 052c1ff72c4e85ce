// SPDX-License-Identifier: BSD-3-Clause
// The last ACK is lost: the request is repeated, answered again, and not executed again (case 14).
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(LostLastAck, TheWriteIsRepeatedAndAcknowledgedButNotExecutedASecondTime) {
  Pair pair(PairOptions{.timeout = 8});  // 1.05 ms
  pair.settle();
  pair.paint();
  pair.post_write(64);
  pair.world.faults.loss = 1;  // the request is on its way, the ACK will not be
  pair.run_for(microseconds(50));
  pair.world.faults.loss = 0;
  EXPECT_TRUE(pair.written(64));
  EXPECT_TRUE(Pair::statuses(pair.a).empty());
  pair.b.memory[0x8000] = 0x99;  // the owner of the memory goes on with it
  pair.run_for(milliseconds(10));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_EQ(pair.b.memory[0x8000], 0x99) << "executed a second time";
  EXPECT_GE(pair.counters(1).duplicate_request.value(), 1u);
}

}  // namespace
}  // namespace uroce::sim
