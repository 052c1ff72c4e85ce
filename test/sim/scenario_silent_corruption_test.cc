// SPDX-License-Identifier: BSD-3-Clause
// A wire that flips a bit in every frame: nothing wrong is ever taken.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(SilentCorruption, NothingIsTakenWhileTheWireLiesAndAllIsWellAfterwards) {
  Pair pair(PairOptions{.timeout = 8});
  pair.settle();
  pair.paint();
  pair.world.faults.corrupt = 1;
  pair.post_write(3000);
  pair.run_for(milliseconds(4));
  pair.world.faults.corrupt = 0;
  const auto icrc = static_cast<size_t>(wire::Drop::kIcrc);
  EXPECT_GT(pair.right.engine().drops().by_reason[icrc].value(), 0u);
  for (uint32_t i = 0; i < 3000; ++i) {
    const uint8_t byte = pair.b.memory[0x8000 + i];
    ASSERT_TRUE(byte == 0xEE || byte == pair.a.memory[i]) << i;
  }
  pair.run_for(milliseconds(40));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair.written(3000));
}

}  // namespace
}  // namespace uroce::sim
