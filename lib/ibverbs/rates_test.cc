// SPDX-License-Identifier: BSD-3-Clause
// Tests of rates against the distribution's library.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "ibverbs/distribution_fixture.h"

namespace uroce::ibverbs {
namespace {

class Rates : public DistributionTest {};

TEST_F(Rates, AreThoseOfTheDistribution) {
  auto* const to_mult = theirs("ibv_rate_to_mult", ibv_rate_to_mult);
  auto* const to_mbps = theirs("ibv_rate_to_mbps", ibv_rate_to_mbps);
  auto* const from_mult = theirs("mult_to_ibv_rate", mult_to_ibv_rate);
  auto* const from_mbps = theirs("mbps_to_ibv_rate", mbps_to_ibv_rate);
  for (int number = -2; number < 40; ++number) {
    const auto rate = static_cast<ibv_rate>(number);
    EXPECT_EQ(ibv_rate_to_mult(rate), to_mult(rate)) << number;
    EXPECT_EQ(ibv_rate_to_mbps(rate), to_mbps(rate)) << number;
    const int mbps = to_mbps(rate);
    EXPECT_EQ(mbps_to_ibv_rate(mbps), from_mbps(mbps)) << mbps;
    EXPECT_EQ(mbps_to_ibv_rate(mbps + 1), IBV_RATE_MAX) << mbps;
  }
  for (int mult = -2; mult < 700; ++mult) {
    EXPECT_EQ(mult_to_ibv_rate(mult), from_mult(mult)) << mult;
  }
}

TEST(RatesWithoutALibrary, AreNotRounded) {
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_10_GBPS), 4);
  EXPECT_EQ(mult_to_ibv_rate(3), IBV_RATE_MAX);
  EXPECT_EQ(mult_to_ibv_rate(-1), IBV_RATE_MAX);
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103'125);
  EXPECT_EQ(mbps_to_ibv_rate(100'000), IBV_RATE_MAX);
}

}  // namespace
}  // namespace uroce::ibverbs
