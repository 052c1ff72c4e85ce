// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory windows of the native face.
#include <gtest/gtest.h>

#include "verbs/key_work_fixture.h"

namespace uroce::verbs {
namespace {

class MwTest : public KeyWorkTest {
 protected:
  MwTest() : mr_(reg(kAll | IB_ACCESS_MW_BIND)) {}
  ~MwTest() override { EXPECT_EQ(ib_dereg_mr(mr_), 0); }
  ib_mw* alloc(ib_mw_type type) {
    ib_mw* mw = ib_alloc_mw(pd_, type);
    EXPECT_FALSE(IS_ERR(mw));
    return mw;
  }
  ib_mr* mr_;
};

// MR-11.
TEST_F(MwTest, TypeOneIsBoundUsedBoundElsewhereAndUnbound) {
  ib_mw* mw = alloc(IB_MW_TYPE_1);
  const __u32 first = ib_inc_rkey(mw->rkey);
  ASSERT_EQ(post_bind(mw, first, mr_, 64, 64), 0);
  EXPECT_EQ(mw->rkey, first);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(write_at(first, 64), IB_WC_SUCCESS);
  EXPECT_EQ(memory_[64], 0x5A);
  const __u32 second = ib_inc_rkey(first);
  ASSERT_EQ(post_bind(mw, second, mr_, 512, 64), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(write_at(second, 512), IB_WC_SUCCESS);
  EXPECT_EQ(ib_dereg_mr(mr_), -EINVAL);
  ASSERT_EQ(write_at(second, 512), IB_WC_SUCCESS) << "the region goes on";
  ASSERT_EQ(post_bind(mw, ib_inc_rkey(second), nullptr, 0, 0), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  EXPECT_EQ(write_at(second, 512), IB_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ib_dealloc_mw(mw), 0);
}

TEST_F(MwTest, TypeTwoIsInvalidatedByItsPeer) {
  ib_mw* mw = alloc(IB_MW_TYPE_2);
  ASSERT_EQ(post_bind(mw, mw->rkey, mr_, 64, 64), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(write_at(mw->rkey, 64), IB_WC_SUCCESS);
  ASSERT_EQ(post_recv(right_, memory_.data() + 4096, 64, 7), 0);
  ib_sge sge = piece(memory_.data(), 8);
  ib_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IB_WR_SEND_WITH_INV;
  wr.ex.invalidate_rkey = mw->rkey;
  ASSERT_EQ(post(left_, wr), 0);
  bool received = false;
  for (const ib_wc& wc : settle_and_poll()) {
    EXPECT_EQ(wc.status, IB_WC_SUCCESS);
    if (wc.opcode != IB_WC_RECV) continue;
    received = true;
    EXPECT_EQ(wc.wc_flags & IB_WC_WITH_INVALIDATE, int{IB_WC_WITH_INVALIDATE});
    EXPECT_EQ(wc.ex.invalidate_rkey, mw->rkey);
  }
  EXPECT_TRUE(received);
  EXPECT_EQ(write_at(mw->rkey, 64), IB_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ib_dealloc_mw(mw), 0);
}

TEST_F(MwTest, ABindThatIsNotPermittedEndsTheQueuePair) {
  ib_mr* plain = reg(kAll);
  ib_mw* mw = alloc(IB_MW_TYPE_1);
  ASSERT_EQ(post_bind(mw, mw->rkey, plain, 64, 64), 0);
  EXPECT_EQ(outcome(), IB_WC_MW_BIND_ERR);
  EXPECT_EQ(ib_dealloc_mw(mw), 0);
  EXPECT_EQ(ib_dereg_mr(plain), 0);
}

TEST_F(MwTest, ABindThatFailedLeavesAWindowThatCanBeBound) {
  ib_mr* plain = reg(kAll);
  ib_mw* mw = alloc(IB_MW_TYPE_1);
  ASSERT_EQ(post_bind(mw, ib_inc_rkey(mw->rkey), plain, 64, 64), 0);
  EXPECT_EQ(outcome(), IB_WC_MW_BIND_ERR);
  EXPECT_EQ(ib_dereg_mr(plain), 0);
  std::tie(left_, right_) = connected();
  const __u32 key = ib_inc_rkey(mw->rkey);
  ASSERT_EQ(post_bind(mw, key, mr_, 64, 64), 0);
  EXPECT_EQ(outcome(), IB_WC_SUCCESS);
  EXPECT_EQ(write_at(key, 64), IB_WC_SUCCESS);
  EXPECT_EQ(ib_dealloc_mw(mw), 0);
}

TEST_F(MwTest, TypeTwoEndsWithTheQueuePairThatBoundIt) {
  ib_mw* mw = alloc(IB_MW_TYPE_2);
  ASSERT_EQ(post_bind(mw, mw->rkey, mr_, 64, 64), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  forget(right_);
  EXPECT_EQ(ib_destroy_qp(right_), 0);
  std::tie(left_, right_) = connected();
  EXPECT_EQ(post_bind(mw, mw->rkey, mr_, 128, 64), 0) << "it is free";
  EXPECT_EQ(outcome(), IB_WC_SUCCESS);
  EXPECT_EQ(write_at(mw->rkey, 128), IB_WC_SUCCESS);
  EXPECT_EQ(ib_dealloc_mw(mw), 0);
}

TEST_F(MwTest, BadArguments) {
  EXPECT_EQ(PTR_ERR(ib_alloc_mw(pd_, static_cast<ib_mw_type>(0))), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_mw(pd_, static_cast<ib_mw_type>(3))), -EINVAL);
  EXPECT_EQ(post_bind(nullptr, 1, mr_, 64, 64), -EINVAL);
  ib_mw* mw = alloc(IB_MW_TYPE_2);
  EXPECT_EQ(post_bind(mw, mw->rkey, nullptr, 64, 64), -EINVAL);
  EXPECT_EQ(ib_dealloc_pd(pd_), -EBUSY);
  EXPECT_EQ(ib_dealloc_mw(mw), 0);
  EXPECT_EQ(ibdev_->attrs.max_mw, ibdev_->attrs.max_mr);
}

}  // namespace
}  // namespace uroce::verbs
