// SPDX-License-Identifier: BSD-3-Clause
// SQD in the middle of work: what has begun is finished, the rest waits.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(DrainUnderLoad, WhatHasBegunIsFinishedTheRestWaitsAndGoesOnInRts) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.paint();
  pair.post_write(3000);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_SQD;
  ASSERT_EQ(ib_modify_qp(pair.a.qp, &attr, IB_QP_STATE), 0);
  pair.post_write(64);
  pair.run_for(milliseconds(5));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  ib_qp_init_attr init;
  ASSERT_EQ(ib_query_qp(pair.a.qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_SQD);
  EXPECT_EQ(attr.sq_draining, 0);
  attr = {};
  attr.qp_state = IB_QPS_RTS;
  ASSERT_EQ(ib_modify_qp(pair.a.qp, &attr, IB_QP_STATE), 0);
  pair.left.pump();
  pair.run_for(milliseconds(5));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
}

}  // namespace
}  // namespace uroce::sim
