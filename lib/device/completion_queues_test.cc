// SPDX-License-Identifier: BSD-3-Clause
// Tests of completion queues as objects.
#include <gtest/gtest.h>

#include "device/device_fixture.h"

namespace uroce::device {
namespace {

// CQ-01, CQ-07 in part.
TEST(CompletionQueues, SizesAreCheckedAndLanesFollowTheEngines) {
  TestBedOptions options;
  options.engines = 2;
  options.limits.cqe_max = 100;
  options.limits.cq_max = 2;
  TestBed bed(options);
  ASSERT_EQ(bed.device().start(), 0);
  CqHandle one;
  CqHandle two;
  CqHandle three;
  EXPECT_EQ(bed.device().create_cq(0, nullptr, one), -EINVAL);
  EXPECT_EQ(bed.device().create_cq(101, nullptr, one), -EINVAL);
  int mark = 0;
  ASSERT_EQ(bed.device().create_cq(100, &mark, one), 0);
  EXPECT_EQ(one.queue->lane_count, 2u);
  EXPECT_EQ(one.queue->user, &mark);
  EXPECT_GE(one.depth, 100u);
  EXPECT_TRUE(one.exclusive);
  ASSERT_EQ(bed.device().create_cq(1, nullptr, two), 0);
  EXPECT_EQ(bed.device().create_cq(1, nullptr, three), -ENOMEM);
  EXPECT_EQ(bed.device().destroy_cq(one), 0);
  EXPECT_EQ(bed.device().destroy_cq(two), 0);
}

}  // namespace
}  // namespace uroce::device
