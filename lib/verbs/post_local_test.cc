// SPDX-License-Identifier: BSD-3-Clause
// Tests of fast registration and invalidation by work requests, through the native face.
#include "verbs/post_local.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "verbs/key_work_fixture.h"

namespace uroce::verbs {
namespace {

class FastRegistration : public KeyWorkTest {
 protected:
  FastRegistration() : mr_(fast()) {}
  ~FastRegistration() override { EXPECT_EQ(ib_dereg_mr(mr_), 0); }
  ib_mr* mr_;
};

TEST_F(FastRegistration, RegisterUseInvalidateAndRegisterElsewhereUnderANewKey) {
  const __u32 first = mr_->rkey;
  ASSERT_EQ(post_reg(mr_, first), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(write_at(first, 100), IB_WC_SUCCESS);
  EXPECT_EQ(memory_[100], 0x5A);
  ASSERT_EQ(post_invalidate(first), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ib_update_fast_reg_key(mr_, static_cast<__u8>(ib_inc_rkey(first)));
  map(mr_, 2048);
  ASSERT_EQ(post_reg(mr_, mr_->rkey), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(write_at(mr_->rkey, 2048 + 100), IB_WC_SUCCESS);
  EXPECT_EQ(write_at(first, 2048 + 100), IB_WC_REM_ACCESS_ERR) << "the key before";
}

TEST_F(FastRegistration, IsNotUsableBefore) {
  EXPECT_EQ(write_at(mr_->rkey, 100), IB_WC_REM_ACCESS_ERR);
}

TEST_F(FastRegistration, CountsFromZeroIfAskedTo) {
  ASSERT_EQ(post_reg(mr_, mr_->rkey, kAll | IB_ZERO_BASED), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(write(mr_->rkey, 8), IB_WC_SUCCESS);
  EXPECT_EQ(memory_[8], 0x5A);
}

TEST_F(FastRegistration, OverAValidOneIsAnError) {
  ASSERT_EQ(post_reg(mr_, mr_->rkey), 0);
  ASSERT_EQ(outcome(), IB_WC_SUCCESS);
  ASSERT_EQ(post_reg(mr_, mr_->rkey), 0);
  EXPECT_EQ(outcome(), IB_WC_LOC_QP_OP_ERR);
}

TEST_F(FastRegistration, WhatThePosterCanJudgeIsRefusedAtOnce) {
  EXPECT_EQ(post_reg(nullptr, 0), -EINVAL);
  EXPECT_EQ(post_reg(mr_, mr_->rkey, IB_ACCESS_REMOTE_WRITE), -EINVAL);
  ib_mr* plain = reg(kAll);
  EXPECT_EQ(post_reg(plain, plain->rkey), -EINVAL);
  EXPECT_EQ(ib_dereg_mr(plain), 0);
  ib_mr* unmapped = ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, 1);
  EXPECT_EQ(post_reg(unmapped, unmapped->rkey), -EINVAL);
  EXPECT_EQ(ib_dereg_mr(unmapped), 0);
  ib_sge sge = piece(memory_.data(), 8);
  ib_send_wr wr{};
  wr.opcode = IB_WR_LOCAL_INV;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  EXPECT_EQ(post(right_, wr), -EINVAL);
  wr.num_sge = 0;
  ib_qp* datagrams = make(IB_QPT_UD);
  bring_to(datagrams, IB_QPS_RTS);
  EXPECT_EQ(post(datagrams, wr), -EINVAL);
}

// case 56
TEST_F(FastRegistration, MemoryThatCannotBeWrittenIsNotRegisteredForWriting) {
  constexpr size_t kPage = 4096;
  void* page = mmap(nullptr, 2 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  munmap(static_cast<__u8*>(page) + kPage, kPage);
  scatterlist pieces[] = {{reinterpret_cast<__u64>(page), kPage},
                          {reinterpret_cast<__u64>(page) + kPage, 8}};
  EXPECT_EQ(ib_map_mr_sg(mr_, pieces, 2, nullptr, kPage), -EFAULT);
  ASSERT_EQ(ib_map_mr_sg(mr_, pieces, 1, nullptr, kPage), 1);
  EXPECT_EQ(post_reg(mr_, mr_->rkey, kAll), -EFAULT);
  ASSERT_EQ(post_reg(mr_, mr_->rkey, IB_ACCESS_REMOTE_READ), 0);
  EXPECT_EQ(outcome(), IB_WC_SUCCESS);
  munmap(page, kPage);
}

TEST_F(FastRegistration, MappingStopsWhereThePiecesDoNotGoOn) {
  scatterlist pieces[] = {{address(0), 100}, {address(100), 50}, {address(151), 50}};
  EXPECT_EQ(ib_map_mr_sg(mr_, pieces, 3, nullptr, 4096), 2);
  EXPECT_EQ(mr_->iova, address(0));
  EXPECT_EQ(mr_->length, 150u);
  unsigned int offset = 40;
  EXPECT_EQ(ib_map_mr_sg(mr_, pieces, 2, &offset, 4096), 2);
  EXPECT_EQ(mr_->iova, address(40));
  EXPECT_EQ(mr_->length, 110u);
  scatterlist many[6];
  for (unsigned i = 0; i < 6; ++i) many[i] = {address(i * 8), 8};
  EXPECT_EQ(ib_map_mr_sg(mr_, many, 6, nullptr, 4096), 4) << "max_num_sg";
  offset = 100;
  EXPECT_EQ(ib_map_mr_sg(mr_, pieces, 2, &offset, 4096), -EINVAL);
  EXPECT_EQ(ib_map_mr_sg(mr_, pieces, 0, nullptr, 4096), -EINVAL);
  EXPECT_EQ(ib_map_mr_sg(mr_, pieces, 1, nullptr, 1000), -EINVAL);
  scatterlist wrapping[] = {{UINT64_MAX - 7, 100}};
  EXPECT_EQ(ib_map_mr_sg(mr_, wrapping, 1, nullptr, 4096), -EINVAL);
}

// MR-02.
TEST_F(FastRegistration, OnlyOneKindOfRegionIsAllocated) {
  for (const ib_mr_type type :
       {IB_MR_TYPE_SG_GAPS, IB_MR_TYPE_DM, IB_MR_TYPE_USER, IB_MR_TYPE_DMA, IB_MR_TYPE_INTEGRITY}) {
    EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd_, type, 1)), -EINVAL);
  }
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, 0)), -EINVAL);
  EXPECT_EQ(
      PTR_ERR(ib_alloc_mr(pd_, IB_MR_TYPE_MEM_REG, ibdev_->attrs.max_fast_reg_page_list_len + 1)),
      -EINVAL);
}

// KY-01.
TEST(FastRegistrationKey, ReplacesTheLowEightBitsOfBothKeys) {
  ib_mr mr{};
  mr.lkey = 0x00001234;
  mr.rkey = 0x00005678;
  ib_update_fast_reg_key(&mr, 0xab);
  EXPECT_EQ(mr.lkey, 0x000012abu);
  EXPECT_EQ(mr.rkey, 0x000056abu);
}

// case 52, over the wire: no byte moves.
TEST_F(FastRegistration, AddressesThatWrapAroundReachNothing) {
  ib_mr* mr = ib_reg_user_mr(pd_, address(4096), 0x1000, 0x10000, kAll);
  ASSERT_FALSE(IS_ERR(mr));
  EXPECT_EQ(PTR_ERR(ib_reg_user_mr(pd_, address(4096), 0x1000, UINT64_MAX - 100, kAll)), -EINVAL);
  for (const __u64 to : {__u64{0xFFFFFFFFFFFFFFC0}, __u64{0x10FFA}, __u64{0xFFFF}}) {
    std::fill(memory_.begin(), memory_.end(), __u8{0});
    EXPECT_EQ(write(mr->rkey, to), IB_WC_REM_ACCESS_ERR);
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.end() - 8, [](__u8 b) { return b == 0; }));
    std::tie(left_, right_) = connected();
  }
  const std::pair<__u64, __u32> outside[] = {
      {0xFFFFFFFFFFFFFFC0, 96}, {0x10FFF, 2}, {0x10000, 0x1001}, {0xFFFF, 1}};
  for (const auto& [from, length] : outside) {
    std::tie(left_, right_) = connected();
    ib_sge local{.addr = from, .length = length, .lkey = mr->lkey};
    ib_send_wr wr{};
    wr.sg_list = &local;
    wr.num_sge = 1;
    wr.opcode = IB_WR_SEND;
    EXPECT_EQ(post(left_, wr), 0);
    EXPECT_EQ(outcome(), IB_WC_LOC_PROT_ERR) << std::hex << from;
  }
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

// case 55 (d)
TEST_F(FastRegistration, AKeyOfAnotherDomainIsRefused) {
  ib_pd* other = ib_alloc_pd(ibdev_, 0);
  ASSERT_FALSE(IS_ERR(other));
  ib_mr* mr = ib_reg_user_mr(other, address(0), 4096, address(0), kAll);
  ASSERT_FALSE(IS_ERR(mr));
  EXPECT_EQ(write_at(mr->rkey, 100), IB_WC_REM_ACCESS_ERR);
  EXPECT_EQ(memory_[100], 0);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
  EXPECT_EQ(ib_dealloc_pd(other), 0);
}

}  // namespace
}  // namespace uroce::verbs
