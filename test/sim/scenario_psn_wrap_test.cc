// SPDX-License-Identifier: BSD-3-Clause
// PSNs wrap around in the middle of a transfer.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(PsnWrap, MessagesThatCrossTheWrapArriveOnALossyWire) {
  Pair pair(PairOptions{.timeout = 8, .first_psn = 0xFFFFFE});
  pair.settle();
  pair.paint();
  pair.world.faults.loss = 0.05;
  for (int i = 0; i < 8; ++i) {
    std::fill(pair.b.memory.begin(), pair.b.memory.end(), uint8_t{0xEE});
    pair.post_write(5000);
    pair.run_for(milliseconds(60));
    ASSERT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS}) << i;
    ASSERT_TRUE(pair.written(5000)) << i;
  }
}

TEST(PsnWrap, AReadWhoseResponseCrossesTheWrapBringsEverything) {
  Pair pair(PairOptions{.timeout = 8, .first_psn = 0xFFFFFE});
  pair.settle();
  for (size_t i = 0; i < 8000; ++i) pair.b.memory[0x8000 + i] = static_cast<uint8_t>(i * 3);
  pair.post(IB_WR_RDMA_READ, 8000);
  pair.run_for(milliseconds(1));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(std::equal(pair.a.memory.begin(), pair.a.memory.begin() + 8000,
                         pair.b.memory.begin() + 0x8000));
}

}  // namespace
}  // namespace uroce::sim
