// SPDX-License-Identifier: BSD-3-Clause
// Tests of the width and speed of a link.
#include "device/link_rate.h"

#include <gtest/gtest.h>

namespace uroce::device {
namespace {

// Lanes of a width, and what a lane of a speed carries.
uint32_t lanes(uint8_t width) {
  switch (width) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 16:
      return 2;
    default:
      return 0;
  }
}
uint32_t lane_mbps(uint16_t speed) {
  switch (speed) {
    case 1:
      return 2500;
    case 2:
      return 5000;
    case 8:
      return 10000;
    case 32:
      return 25000;
    case 64:
      return 50000;
    case 128:
      return 100000;
    default:
      return 0;
  }
}

TEST(LinkRate, GivesTheRateOrMore) {
  for (const uint32_t mbps :
       {0u, 100u, 1000u, 10000u, 25000u, 40000u, 50000u, 56000u, 100000u, 400000u, 800000u}) {
    const LinkRate rate = link_rate(mbps);
    EXPECT_GE(lanes(rate.width) * lane_mbps(rate.speed), mbps);
  }
}

TEST(LinkRate, OfCommonLinksIsExact) {
  for (const uint32_t mbps : {10000u, 25000u, 40000u, 50000u, 100000u, 200000u, 400000u}) {
    const LinkRate rate = link_rate(mbps);
    EXPECT_EQ(lanes(rate.width) * lane_mbps(rate.speed), mbps);
  }
}

TEST(LinkRate, BeyondTheTableIsItsLast) {
  EXPECT_EQ(link_rate(UINT32_MAX).width, link_rate(800000).width);
  EXPECT_EQ(link_rate(UINT32_MAX).speed, link_rate(800000).speed);
}

}  // namespace
}  // namespace uroce::device
