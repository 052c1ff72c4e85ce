// SPDX-License-Identifier: BSD-3-Clause
// Tests of finding the runtime, and of the one that the other tests use.
#include "ibverbs/runtime.h"

#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST(TheRuntime, IsTheOneThatWasInstalledLast) {
  for (int i = 0; i < 2; ++i) {
    BedRuntime mine(1, {});
    EXPECT_EQ(&runtime(), &mine);
  }
}

TEST(ARuntimeOfTestBeds, StartsADeviceWhenItIsAskedToAndNotBefore) {
  BedRuntime beds(2, {});
  EXPECT_EQ(beds.describe(1).name, "uroce1");
  EXPECT_EQ(beds.running(1), nullptr);
  device::Device* device = nullptr;
  ASSERT_EQ(beds.start(1, device), 0);
  EXPECT_EQ(device, &beds.bed(1).device());
  EXPECT_EQ(beds.running(1), device);
  EXPECT_EQ(beds.running(0), nullptr);
  const Time before = beds.bed(1).clock();
  beds.drive();
  EXPECT_GT(beds.bed(1).clock(), before);
}

}  // namespace
}  // namespace uroce::ibverbs
