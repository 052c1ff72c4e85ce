// SPDX-License-Identifier: BSD-3-Clause
// A queue pair is destroyed while its frames are on their way.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(DestroyUnderLoad, LateFramesFindNobodyAndANewQueuePairIsUnharmed) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.paint();
  for (int i = 0; i < 4; ++i) pair.post_write(4000);
  ASSERT_EQ(ib_destroy_qp(pair.b.qp), 0);
  ASSERT_EQ(ib_destroy_qp(pair.a.qp), 0);
  Pair::make_qp(pair.a);
  Pair::make_qp(pair.b);
  pair.run_for(milliseconds(100));
  EXPECT_TRUE(Pair::statuses(pair.a).empty()) << "work of the destroyed vanishes";
  EXPECT_EQ(pair.b.memory, std::vector<uint8_t>(65536, 0xEE));
  const auto unknown = static_cast<size_t>(wire::Drop::kQpnUnknown);
  EXPECT_EQ(pair.right.engine().drops().by_reason[unknown].value(), 16u);
  pair.connect();
  pair.post_write(4000);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(4000));
}

}  // namespace
}  // namespace uroce::sim
