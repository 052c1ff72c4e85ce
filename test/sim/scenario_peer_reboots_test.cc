// SPDX-License-Identifier: BSD-3-Clause
// A peer loses power and comes back: the old connection ends, frames of it mean nothing to the
// new one (case 25 of the field).
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(PeerReboots, TheOldConnectionEndsAndItsFramesMeanNothingToTheNewOne) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.paint();
  pair.post_write(64);
  const std::vector<uint8_t> old_frame = pair.world.last_frame();
  pair.run_for(milliseconds(1));
  ASSERT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  pair.world.unplug(1);
  ib_destroy_qp(pair.b.qp);
  ib_dereg_mr(pair.b.mr);
  ib_destroy_cq(pair.b.cq);
  ib_dealloc_pd(pair.b.pd);
  pair.world.replace_host(1, std::make_unique<Host>(pair.world, uint8_t{2}, 77)).start();
  pair.post_write(64);
  pair.run_for(milliseconds(100));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_RETRY_EXC_ERR});
  std::fill(pair.b.memory.begin(), pair.b.memory.end(), uint8_t{0xEE});
  Pair::make(pair.world.host(1), pair.b);
  ASSERT_EQ(ib_destroy_qp(pair.a.qp), 0);
  Pair::make_qp(pair.a);
  pair.connect();
  for (int i = 0; i < 1000; ++i) pair.world.inject(pair.world.host(1), old_frame);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(pair.b.memory, std::vector<uint8_t>(65536, 0xEE));
  pair.post_write(64);
  pair.run_for(milliseconds(10));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(64));
}

}  // namespace
}  // namespace uroce::sim
