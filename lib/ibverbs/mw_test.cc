// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory windows as objects.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST_F(DomainTest, HasWindowsOfBothTypes) {
  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    ibv_mw* const mw = ibv_alloc_mw(pd_, type);
    ASSERT_NE(mw, nullptr);
    EXPECT_EQ(mw->context, context_);
    EXPECT_EQ(mw->pd, pd_);
    EXPECT_EQ(mw->type, type);
    EXPECT_NE(mw->rkey, 0u);
    EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
    EXPECT_EQ(ibv_dealloc_mw(mw), 0);
  }
}

TEST_F(DomainTest, HasNoWindowsOfOtherTypes) {
  errno = 0;
  EXPECT_EQ(ibv_alloc_mw(pd_, static_cast<ibv_mw_type>(3)), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace uroce::ibverbs
