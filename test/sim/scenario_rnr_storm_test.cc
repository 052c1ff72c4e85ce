// SPDX-License-Identifier: BSD-3-Clause
// Many SENDs meet a receiver without buffers.
#include <gtest/gtest.h>

#include "test/sim/pair.h"

namespace uroce::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(RnrStorm, EverythingArrivesOnceBuffersAreThereAndNoRetryIsSpent) {
  Pair pair(PairOptions{.timeout = 8, .retry_cnt = 1});
  pair.settle();
  for (int i = 0; i < 4; ++i) pair.post(IB_WR_SEND, 100);
  pair.run_for(milliseconds(20));
  EXPECT_TRUE(Pair::statuses(pair.a).empty()) << "rnr_retry 7 is for ever";
  const uint64_t naks = pair.counters(0).rnr_nak_received.value();
  EXPECT_GT(naks, 10u);
  EXPECT_LT(naks, 130u) << "160 us lie between two attempts";
  for (int i = 0; i < 4; ++i) pair.post_recv(100);
  pair.run_for(milliseconds(5));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector(4, IB_WC_SUCCESS));
  EXPECT_EQ(Pair::statuses(pair.b), std::vector(4, IB_WC_SUCCESS));
  EXPECT_EQ(pair.counters(0).local_ack_timeout_err.value(), 0u);
}

TEST(RnrStorm, ALimitedNumberOfRnrRetriesIsExact) {
  Pair pair(PairOptions{.timeout = 8, .rnr_retry = 3});
  pair.settle();
  pair.post(IB_WR_SEND, 100);
  pair.run_for(milliseconds(20));
  EXPECT_EQ(Pair::statuses(pair.a), std::vector{IB_WC_RNR_RETRY_EXC_ERR});
  EXPECT_EQ(pair.counters(1).rnr_nak_sent.value(), 4u);
}

}  // namespace
}  // namespace uroce::sim
