// SPDX-License-Identifier: BSD-3-Clause
// Duplicates of a READ and of a WRITE behind each other (cases 13 and 14 of the field).
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class DuplicateRead : public testing::Test {
 protected:
  DuplicateRead() { pair_.settle(); }
  void inject(const std::vector<uint8_t>& frame) {
    pair_.world.inject(pair_.right, frame);
    pair_.run_for(microseconds(50));
  }
  uint64_t sent_by_right() { return pair_.counters(1).sent_packets.value(); }

  Pair pair_{PairOptions{.timeout = 14}};
};

TEST_F(DuplicateRead, IsAnsweredAgainWithTodaysMemoryAndHarmsNoWriteUnderWay) {
  pair_.post(IB_WR_RDMA_READ, 3000);
  const std::vector<uint8_t> read = pair_.world.last_frame();
  pair_.run_for(microseconds(50));
  ASSERT_EQ(Pair::statuses(pair_.a), std::vector{IB_WC_SUCCESS});
  uint64_t before = sent_by_right();
  inject(read);
  EXPECT_EQ(sent_by_right(), before + 3) << "FIRST, MIDDLE, LAST";
  // A WRITE of which only the first packet has arrived.
  pair_.paint();
  pair_.world.faults.port_frames = 1;
  pair_.post_write(3000);
  pair_.run_for(microseconds(6));
  pair_.world.faults.port_frames = 64;
  before = sent_by_right();
  inject(read);
  EXPECT_GE(sent_by_right(), before + 3);
  pair_.run_for(milliseconds(400));
  EXPECT_EQ(Pair::statuses(pair_.a), std::vector{IB_WC_SUCCESS});
  EXPECT_TRUE(pair_.written(3000));
  EXPECT_EQ(pair_.counters(1).resp_remote_invalid_request.value(), 0u);
}

TEST_F(DuplicateRead, AWriteThatComesAgainBehindAReadIsAcknowledgedAndNotExecuted) {
  pair_.paint();
  pair_.post_write(8);
  const std::vector<uint8_t> write = pair_.world.last_frame();
  pair_.run_for(microseconds(50));
  pair_.post(IB_WR_RDMA_READ, 8);
  pair_.run_for(microseconds(50));
  ASSERT_EQ(Pair::statuses(pair_.a), std::vector(2, IB_WC_SUCCESS));
  pair_.b.memory[0x8000] = 0x77;
  const uint64_t before = sent_by_right();
  inject(write);
  EXPECT_EQ(pair_.b.memory[0x8000], 0x77);
  EXPECT_EQ(sent_by_right(), before + 1);
}

}  // namespace
}  // namespace uroce::sim
