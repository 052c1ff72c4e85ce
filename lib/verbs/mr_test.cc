// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory regions of the native face.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class MrTest : public FaceTest {
 protected:
  ib_mr* reg(const void* start, __u64 length, int access) {
    const auto address = reinterpret_cast<__u64>(start);
    return ib_reg_user_mr(pd_, address, length, address, access);
  }
};

// MR-10.
TEST_F(MrTest, KeysAndCountsFollowTheRegistration) {
  ib_mr* local = reg(memory_.data(), memory_.size(), IB_ACCESS_LOCAL_WRITE);
  ASSERT_FALSE(IS_ERR(local));
  EXPECT_NE(local->lkey, 0u);
  EXPECT_EQ(local->rkey, 0u) << "no remote right, no remote key";
  EXPECT_EQ(local->length, memory_.size());
  EXPECT_EQ(local->iova, reinterpret_cast<__u64>(memory_.data()));
  EXPECT_EQ(local->type, IB_MR_TYPE_USER);
  EXPECT_EQ(local->pd, pd_);
  ib_mr* remote = reg(memory_.data(), 1, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
  ASSERT_FALSE(IS_ERR(remote));
  EXPECT_EQ(remote->rkey, remote->lkey);
  EXPECT_NE(remote->lkey >> 8, local->lkey >> 8);
  EXPECT_EQ(ib_dealloc_pd(pd_), -EBUSY);
  EXPECT_EQ(ib_dereg_mr(local), 0);
  EXPECT_EQ(ib_dereg_mr(remote), 0);
}

// Cases 56.
TEST_F(MrTest, BadArgumentsAreErrorPointers) {
  EXPECT_EQ(PTR_ERR(reg(nullptr, 1, 0)), -EFAULT);
  EXPECT_EQ(PTR_ERR(reg("constant", 1, IB_ACCESS_LOCAL_WRITE)), -EFAULT);
  EXPECT_EQ(PTR_ERR(reg(memory_.data(), 0, 0)), -EINVAL);
  EXPECT_EQ(PTR_ERR(reg(memory_.data(), 1, IB_ACCESS_REMOTE_WRITE)), -EINVAL);
  EXPECT_EQ(PTR_ERR(reg(memory_.data(), 1, IB_ACCESS_ON_DEMAND)), -EOPNOTSUPP);
}

}  // namespace
}  // namespace uroce::verbs
