// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory regions of the native face.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <tuple>

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

// case 56
TEST_F(MrTest, BadArgumentsAreErrorPointers) {
  EXPECT_EQ(PTR_ERR(reg(nullptr, 1, 0)), -EFAULT);
  EXPECT_EQ(PTR_ERR(reg("constant", 1, IB_ACCESS_LOCAL_WRITE)), -EFAULT);
  EXPECT_EQ(PTR_ERR(reg(memory_.data(), 0, 0)), -EINVAL);
  EXPECT_EQ(PTR_ERR(reg(memory_.data(), 1, IB_ACCESS_REMOTE_WRITE)), -EINVAL);
}

TEST_F(MrTest, OnDemandMemoryIsNotLookedAt) {
  ib_mr* mr = reg(nullptr, 1, IB_ACCESS_ON_DEMAND);
  ASSERT_FALSE(IS_ERR(mr));
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

TEST_F(MrTest, AZeroBasedRegionAndOptionalRights) {
  ib_mr* mr = ib_reg_user_mr(pd_, reinterpret_cast<__u64>(memory_.data()), 64, 0x1234,
                             IB_ZERO_BASED | IB_ACCESS_RELAXED_ORDERING | IB_ACCESS_REMOTE_READ);
  ASSERT_FALSE(IS_ERR(mr));
  EXPECT_EQ(mr->iova, 0u);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

TEST_F(MrTest, ReregistrationKeepsTheKeyAndShowsWhatChanged) {
  ib_mr* mr = reg(memory_.data(), 64, IB_ACCESS_LOCAL_WRITE);
  ASSERT_FALSE(IS_ERR(mr));
  const __u32 lkey = mr->lkey;
  const auto elsewhere = reinterpret_cast<__u64>(memory_.data() + 128);
  EXPECT_EQ(ib_rereg_user_mr(mr, 0, 0, 0, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(ib_rereg_user_mr(mr, 8, 0, 0, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(ib_rereg_user_mr(mr, IB_MR_REREG_PD, 0, 0, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(ib_rereg_user_mr(mr, IB_MR_REREG_TRANS, elsewhere, 0, elsewhere, 0, nullptr), -EINVAL);
  EXPECT_EQ(mr->length, 64u);
  ASSERT_EQ(ib_rereg_user_mr(mr, IB_MR_REREG_TRANS | IB_MR_REREG_ACCESS, elsewhere, 32, elsewhere,
                             IB_ACCESS_REMOTE_READ, nullptr),
            0);
  EXPECT_EQ(mr->lkey, lkey);
  EXPECT_EQ(mr->rkey, lkey);
  EXPECT_EQ(mr->iova, elsewhere);
  EXPECT_EQ(mr->length, 32u);
  ib_pd* other = ib_alloc_pd(ibdev_, 0);
  ASSERT_EQ(ib_rereg_user_mr(mr, IB_MR_REREG_PD, 0, 0, 0, 0, other), 0);
  EXPECT_EQ(mr->pd, other);
  EXPECT_EQ(ib_dealloc_pd(other), -EBUSY);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
  EXPECT_EQ(ib_dealloc_pd(other), 0);
}

// An anonymous mapping, and a connection whose left end writes into it by RDMA.
class MappedMemory : public MrTest {
 protected:
  static constexpr size_t kBytes = 3 * 4096;

  MappedMemory() {
    map_ = map(nullptr, 0);
    std::tie(left_, right_) = connected();
  }
  ~MappedMemory() override { munmap(map_, kBytes); }

  static uint8_t* map(void* place, int flags) {
    void* memory =
        mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<uint8_t*>(memory);
  }
  ib_mr* reg_map(int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE) {
    return reg(map_, kBytes, access);
  }
  // Eight bytes of 0x5A into the map's middle page, and what comes of it.
  std::vector<ib_wc> write_through(__u32 rkey) {
    memory_.fill(0x5A);
    ib_sge sge = piece(memory_.data(), 8);
    ib_rdma_wr wr{};
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = IB_WR_RDMA_WRITE;
    wr.wr.send_flags = IB_SEND_SIGNALED;
    wr.remote_addr = reinterpret_cast<__u64>(map_ + 4096);
    wr.rkey = rkey;
    EXPECT_EQ(ib_post_send(left_, &wr.wr, nullptr), 0);
    return settle_and_poll();
  }

  uint8_t* map_ = nullptr;
  ib_qp* left_ = nullptr;
  ib_qp* right_ = nullptr;
};

// case 56
TEST_F(MappedMemory, AHoleOrAMissingRightIsAnErrorAtRegistration) {
  munmap(map_ + 4096, 4096);
  EXPECT_EQ(PTR_ERR(reg_map()), -EFAULT);
  map(map_, MAP_FIXED);
  mprotect(map_ + 4096, 4096, PROT_READ);
  EXPECT_EQ(PTR_ERR(reg_map()), -EFAULT);
  ib_mr* readable = reg_map(IB_ACCESS_REMOTE_READ);
  ASSERT_FALSE(IS_ERR(readable));
  EXPECT_EQ(ib_dereg_mr(readable), 0);
}

TEST_F(MappedMemory, MemoryThatIsDeregisteredFirstMayBeUnmappedAndItsPeersAreRefused) {
  ib_mr* mr = reg_map();
  ASSERT_FALSE(IS_ERR(mr));
  const __u32 rkey = mr->rkey;
  ASSERT_EQ(ib_dereg_mr(mr), 0);
  ASSERT_EQ(munmap(map_, kBytes), 0);
  const std::vector<ib_wc> done = write_through(rkey);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IB_WC_REM_ACCESS_ERR);
  map(map_, MAP_FIXED);
}

// doc/execution.md: a region is a range of addresses.
TEST_F(MappedMemory, AnotherMappingAtTheSamePlaceIsWhatPeersThenWrite) {
  ib_mr* mr = reg_map();
  ASSERT_FALSE(IS_ERR(mr));
  munmap(map_, kBytes);
  ASSERT_EQ(map(map_, MAP_FIXED), map_);
  const std::vector<ib_wc> done = write_through(mr->rkey);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IB_WC_SUCCESS);
  EXPECT_EQ(map_[4096], 0x5A);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

// case 56. doc/execution.md: no answer can be made of it, and nothing hides it.
TEST_F(MappedMemory, MemoryUnmappedUnderALiveRegionEndsTheProcessAtTheNextWrite) {
  ib_mr* mr = reg_map();
  ASSERT_FALSE(IS_ERR(mr));
  EXPECT_DEATH(
      {
        munmap(map_ + 4096, 4096);
        write_through(mr->rkey);
      },
      "");
  EXPECT_EQ(ib_dereg_mr(mr), 0);
}

}  // namespace
}  // namespace uroce::verbs
