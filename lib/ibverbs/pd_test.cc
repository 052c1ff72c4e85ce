// SPDX-License-Identifier: BSD-3-Clause
// Tests of protection domains, thread domains and parent domains.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST_F(FaceTest, StartsTheDeviceWithTheFirstDomain) {
  EXPECT_EQ(runtime_.running(0), nullptr);
  ibv_pd* const pd = ibv_alloc_pd(context_);
  ASSERT_NE(pd, nullptr);
  EXPECT_NE(runtime_.running(0), nullptr);
  EXPECT_EQ(runtime_.running(1), nullptr) << "the other one does not";
  EXPECT_EQ(pd->context, context_);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(FaceTest, HasNoDomainWhenTheDeviceCannotStart) {
  runtime_.error = -EIO;
  errno = 0;
  EXPECT_EQ(ibv_alloc_pd(context_), nullptr);
  EXPECT_EQ(errno, EIO);
}

TEST_F(DomainTest, StaysWhileSomethingIsInIt) {
  ibv_mr* const mr = ibv_reg_mr(pd_, memory_.data(), 64, 0);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

// In the child of a fork no device can be reached, and objects cannot be ended.
TEST_F(DomainTest, CannotEndWhereTheDeviceIsOutOfReach) {
  runtime_.error = -EIO;
  EXPECT_EQ(ibv_dealloc_pd(pd_), EIO);
  runtime_.error = 0;
}

TEST_F(DomainTest, OfManyAreLimited) {
  std::vector<ibv_pd*> domains;
  while (ibv_pd* const pd = ibv_alloc_pd(context_)) domains.push_back(pd);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_GT(domains.size(), 10u);
  for (ibv_pd* const pd : domains) EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

class ParentTest : public DomainTest {
 protected:
  ParentTest() {
    ibv_td_init_attr init{};
    td_ = ibv_alloc_td(context_, &init);
    EXPECT_NE(td_, nullptr);
  }
  ibv_pd* parent_of(ibv_pd* pd, ibv_td* td = nullptr) {
    ibv_parent_domain_init_attr attr{};
    attr.pd = pd;
    attr.td = td;
    return ibv_alloc_parent_domain(context_, &attr);
  }
  ibv_td* td_ = nullptr;
};

TEST_F(ParentTest, KeepsItsDomains) {
  ibv_pd* const parent = parent_of(pd_, td_);
  ASSERT_NE(parent, nullptr);
  EXPECT_NE(parent, pd_);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_dealloc_td(td_), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td_), 0);
}

TEST_F(ParentTest, CountsAsItsProtectionDomain) {
  ibv_pd* const parent = parent_of(pd_);
  ASSERT_NE(parent, nullptr);
  ibv_mr* const mr = ibv_reg_mr(parent, memory_.data(), 64, 0);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->pd, parent);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  ibv_sge piece{reinterpret_cast<uint64_t>(memory_.data()), 64, mr->lkey};
  EXPECT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &piece, 1), 0);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td_), 0);
}

TEST_F(ParentTest, TakesAllocatorsAndACookie) {
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_;
  attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  ibv_pd* const parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  attr.comp_mask = 1 << 2;
  errno = 0;
  EXPECT_EQ(ibv_alloc_parent_domain(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(parent_of(nullptr), nullptr);
  EXPECT_EQ(ibv_dealloc_td(td_), 0);
}

TEST_F(FaceTest, HasNoThreadDomainsOfOtherKinds) {
  ibv_td_init_attr init{.comp_mask = 1};
  errno = 0;
  EXPECT_EQ(ibv_alloc_td(context_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace uroce::ibverbs
