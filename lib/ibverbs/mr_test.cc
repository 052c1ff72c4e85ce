// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory regions.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

using memory::KeyVerdict;

class MrTest : public DomainTest {
 protected:
  KeyVerdict look(const ibv_mr* mr, uint32_t wanted, uint64_t address, uint64_t length) {
    return bed().keys().translate(Key(mr->lkey), of(mr->pd).object->number, wanted, address, length,
                                  found_);
  }
  KeyVerdict look(const ibv_mr* mr, uint32_t wanted) {
    return look(mr, wanted, reinterpret_cast<uint64_t>(memory_.data()), 64);
  }
  ibv_mr* reg(int access) {
    ibv_mr* const mr = ibv_reg_mr(pd_, memory_.data(), 64, access);
    EXPECT_NE(mr, nullptr);
    return mr;
  }
  uint8_t* found_ = nullptr;
};

TEST_F(MrTest, HasOneKeyForNearAndFar) {
  ibv_mr* const mr = reg(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  EXPECT_EQ(mr->context, context_);
  EXPECT_EQ(mr->pd, pd_);
  EXPECT_EQ(mr->addr, memory_.data());
  EXPECT_EQ(mr->length, 64u);
  EXPECT_NE(mr->lkey, 0u);
  EXPECT_EQ(mr->rkey, mr->lkey);
  EXPECT_EQ(look(mr, memory::kRemoteWrite), KeyVerdict::kGood);
  EXPECT_EQ(look(mr, memory::kRemoteRead), KeyVerdict::kNoAccess);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, GoesByTheAddressesThatItWasGiven) {
  ibv_mr* const mr = ibv_reg_mr_iova(pd_, memory_.data(), 64, 0x1000, int{IBV_ACCESS_REMOTE_READ});
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->addr, memory_.data());
  EXPECT_EQ(look(mr, 0, 0x1008, 56), KeyVerdict::kGood);
  EXPECT_EQ(found_, memory_.data() + 8);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, TakesOptionalRightsAndZeroBasedAddresses) {
  ibv_mr* const mr =
      ibv_reg_mr(pd_, memory_.data(), 64, IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_ZERO_BASED);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(look(mr, 0, 0, 64), KeyVerdict::kGood);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, IsRefusedWithoutTheMemoryOrTheRight) {
  errno = 0;
  EXPECT_EQ(ibv_reg_mr(pd_, memory_.data(), 64, int{IBV_ACCESS_REMOTE_WRITE}), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(ibv_reg_mr(pd_, memory_.data(), 0, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  void* const hole = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(ibv_reg_mr(pd_, hole, 4096, 0), nullptr);
  EXPECT_EQ(errno, EFAULT);
  munmap(hole, 4096);
}

TEST_F(MrTest, OnDemandMayBeTheWholeAddressSpace) {
  ibv_mr* const mr =
      ibv_reg_mr(pd_, nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(look(mr, memory::kLocalWrite), KeyVerdict::kGood);
  EXPECT_EQ(found_, memory_.data());
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, RegisteredAnewKeepsItsKeys) {
  ibv_mr* const mr = reg(IBV_ACCESS_LOCAL_WRITE);
  const uint32_t key = mr->rkey;
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
            0);
  EXPECT_EQ(look(mr, memory::kRemoteWrite), KeyVerdict::kGood);
  EXPECT_EQ(
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, memory_.data() + 4096, 128, 0), 0);
  EXPECT_EQ(mr->addr, memory_.data() + 4096);
  EXPECT_EQ(mr->length, 128u);
  EXPECT_EQ(look(mr, memory::kRemoteWrite), KeyVerdict::kOutOfRange);
  EXPECT_EQ(look(mr, memory::kRemoteWrite, reinterpret_cast<uint64_t>(mr->addr), 128),
            KeyVerdict::kGood);
  EXPECT_EQ(mr->lkey, key);
  EXPECT_EQ(mr->rkey, key);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, MovesToAnotherDomain) {
  ibv_mr* const mr = reg(0);
  ibv_pd* const other = ibv_alloc_pd(context_);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, nullptr, 0, 0), 0);
  EXPECT_EQ(mr->pd, other);
  EXPECT_EQ(ibv_dealloc_pd(other), EBUSY);
  EXPECT_EQ(look(mr, 0), KeyVerdict::kGood) << "under the number of the other one";
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

// What is wrong is refused before anything changes, and the result says that.
TEST_F(MrTest, StaysAsItIsWhenItIsRegisteredAnewWrongly) {
  ibv_mr* const mr = reg(0);
  const auto refused = [&](int flags, void* addr, size_t length, int access) {
    errno = 0;
    return ibv_rereg_mr(mr, flags, nullptr, addr, length, access) == IBV_REREG_MR_ERR_INPUT &&
           errno != 0;
  };
  EXPECT_TRUE(refused(0, nullptr, 0, 0));
  EXPECT_TRUE(refused(1 << 3, nullptr, 0, 0));
  EXPECT_TRUE(refused(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, 8, 0));
  EXPECT_TRUE(refused(IBV_REREG_MR_CHANGE_TRANSLATION, memory_.data(), 0, 0));
  EXPECT_TRUE(refused(IBV_REREG_MR_CHANGE_PD, nullptr, 0, 0)) << "no domain given";
  EXPECT_TRUE(refused(IBV_REREG_MR_CHANGE_TRANSLATION, memory_.data(), 8, IBV_ACCESS_LOCAL_WRITE))
      << "rights that no flag announces";
  EXPECT_TRUE(refused(IBV_REREG_MR_CHANGE_ACCESS, nullptr, 0, IBV_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(errno, EINVAL);
  EXPECT_TRUE(refused(IBV_REREG_MR_CHANGE_TRANSLATION, reinterpret_cast<void*>(8), 8, 0));
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(look(mr, 0), KeyVerdict::kGood);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(MrTest, CanBeAdvisedAbout) {
  ibv_mr* const mr = reg(0);
  ibv_sge pieces[2] = {{reinterpret_cast<uint64_t>(memory_.data()), 64, mr->lkey},
                       {reinterpret_cast<uint64_t>(memory_.data()) + 8, 8, mr->lkey}};
  const auto advise = [&](ibv_advise_mr_advice advice, uint32_t flags = 0, uint32_t count = 2) {
    return ibv_advise_mr(pd_, advice, flags, pieces, count);
  };
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH), 0);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH), 0);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT), 0);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE), EPERM);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 2), EINVAL);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 0), EINVAL);
  EXPECT_EQ(advise(static_cast<ibv_advise_mr_advice>(3)), EOPNOTSUPP);
  pieces[1].length = 65;
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH), EFAULT);
  pieces[1].lkey ^= 1;
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH), ENOENT);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

// There is no place that swallows all that is written to it.
TEST_F(MrTest, OfNothingIsNotToBeHad) {
  errno = 0;
  EXPECT_EQ(ibv_alloc_null_mr(pd_), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace uroce::ibverbs
