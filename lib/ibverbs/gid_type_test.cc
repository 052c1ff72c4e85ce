// SPDX-License-Identifier: BSD-3-Clause
// Tests of the types of GIDs.
#include <gtest/gtest.h>

#include <cerrno>

#include "ibverbs/face_fixture.h"
#include "ibverbs/undeclared.h"

namespace uroce::ibverbs {
namespace {

class GidType : public FaceTest {};

TEST_F(GidType, IsRoceV2WhereThereIsAnAddress) {
  for (const unsigned index : {0u, 1u, 2u}) {
    auto type = IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
    EXPECT_EQ(ibv_query_gid_type(context_, 1, index, &type), 0) << index;
    EXPECT_EQ(type, IBV_GID_TYPE_SYSFS_ROCE_V2) << index;
  }
}

TEST_F(GidType, OfAnEmptyEntryIsTheOldest) {
  auto type = IBV_GID_TYPE_SYSFS_ROCE_V2;
  EXPECT_EQ(ibv_query_gid_type(context_, 1, 100, &type), 0);
  EXPECT_EQ(type, IBV_GID_TYPE_SYSFS_IB_ROCE_V1);
}

TEST_F(GidType, IsRefusedOutsideTheTable) {
  auto type = IBV_GID_TYPE_SYSFS_ROCE_V2;
  EXPECT_EQ(ibv_query_gid_type(context_, 1, 100'000, &type), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_query_gid_type(context_, 2, 0, &type), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace uroce::ibverbs
