// SPDX-License-Identifier: BSD-3-Clause
// A partition between two hosts: what it costs depends on how long it lasts.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Partition, ThatHealsInTimeCostsRetriesOnly) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.paint();
  pair.world.cut(0, 1, milliseconds(4));
  pair.post_write(3000);
  pair.run_for(milliseconds(3));
  EXPECT_TRUE(Pair::statuses(pair.a).empty());
  EXPECT_EQ(pair.b.memory[0x8000], 0xEE);
  pair.run_for(milliseconds(20));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(3000));
}

TEST(Partition, ThatHealsTooLateCostsTheConnectionAndANewOneWorks) {
  Pair pair(PairOptions{.timeout = 8, .retry_cnt = 2});
  pair.settle();
  pair.paint();
  pair.world.cut(0, 1, milliseconds(60));
  pair.post_write(64);
  pair.post_write(64);
  pair.run_for(milliseconds(60));
  EXPECT_EQ(Pair::statuses(pair.a), (std::vector{IB_WC_RETRY_EXC_ERR, IB_WC_WR_FLUSH_ERR}));
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RESET;
  ASSERT_EQ(ib_modify_qp(pair.a.qp, &attr, IB_QP_STATE), 0);
  ASSERT_EQ(ib_modify_qp(pair.b.qp, &attr, IB_QP_STATE), 0);
  pair.connect();
  pair.post_write(64);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(64));
}

}  // namespace
}  // namespace uroce::sim
