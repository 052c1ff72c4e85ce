// SPDX-License-Identifier: BSD-3-Clause
// Tests of mapping memory for work requests.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class DmaTest : public FaceTest {
 protected:
  DmaTest() {
    mr_ = ib_reg_user_mr(pd_, address_of(0), kBytes, address_of(0), IB_ACCESS_LOCAL_WRITE);
    EXPECT_FALSE(IS_ERR(mr_));
  }
  ~DmaTest() override {
    if (mr_ != nullptr) {
      EXPECT_EQ(ib_dereg_mr(mr_), 0);
    }
  }
  __u64 address_of(size_t offset) const { return reinterpret_cast<__u64>(memory_.data() + offset); }
  __u64 map(void* memory, size_t size) {
    return ib_dma_map_single(ibdev_, memory, size, DMA_TO_DEVICE);
  }

  static constexpr size_t kBytes = 4096;  // of the 8192 of memory_
  ib_mr* mr_ = nullptr;
};

// DM-01, DM-04, DM-06.
TEST_F(DmaTest, AMappingOfRegisteredMemoryIsItsAddress) {
  const __u64 mapped = map(memory_.data(), kBytes);
  EXPECT_EQ(mapped, address_of(0));
  EXPECT_EQ(ib_dma_mapping_error(ibdev_, mapped), 0);
  EXPECT_EQ(ib_virt_dma_to_ptr(mapped), memory_.data());
  ib_dma_unmap_single(ibdev_, mapped, kBytes, DMA_TO_DEVICE);
  EXPECT_EQ(ib_dma_mapping_error(ibdev_, map(memory_.data(), 0)), 0);
}

// DM-03, DM-05.
TEST_F(DmaTest, MemoryThatIsNotRegisteredIsNoMapping) {
  int on_the_stack = 0;
  EXPECT_EQ(map(&on_the_stack, sizeof on_the_stack), ~__u64{0});
  EXPECT_EQ(ib_dma_mapping_error(ibdev_, map(&on_the_stack, 4)), -ENOMEM);
  EXPECT_EQ(map(memory_.data() + kBytes - 1, 2), ~__u64{0}) << "its last byte is not";
  EXPECT_EQ(ib_dma_mapping_error(ibdev_, ~__u64{0}), -ENOMEM);
  EXPECT_EQ(ib_dma_mapping_error(ibdev_, 0), 0);
  ASSERT_EQ(ib_dereg_mr(mr_), 0);
  mr_ = nullptr;
  EXPECT_EQ(map(memory_.data(), 1), ~__u64{0}) << "the registration has ended";
}

TEST_F(DmaTest, FollowsTheRegionToItsNewPlace) {
  ASSERT_EQ(ib_rereg_user_mr(mr_, IB_MR_REREG_TRANS, address_of(4096), 64, 0, 0, nullptr), 0);
  EXPECT_EQ(map(memory_.data(), 1), ~__u64{0});
  EXPECT_EQ(map(memory_.data() + 4096, 64), address_of(4096));
}

// DM-02, DM-07.
TEST_F(DmaTest, APageIsTheRangeThatIsRegistered) {
  page* whole = ib_virt_dma_to_page(address_of(100));
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->address, memory_.data());
  EXPECT_EQ(whole->length, kBytes);
  EXPECT_EQ(ib_virt_dma_to_page(address_of(kBytes - 1)), whole);
  EXPECT_EQ(ib_virt_dma_to_page(address_of(kBytes)), nullptr);
  const __u64 mapped = ib_dma_map_page(ibdev_, whole, 100, 8, DMA_FROM_DEVICE);
  EXPECT_EQ(mapped, map(memory_.data() + 100, 8));
  ib_dma_unmap_page(ibdev_, mapped, 8, DMA_FROM_DEVICE);
}

// DM-08.
TEST_F(DmaTest, AVectorIsAPieceOfAPage) {
  bio_vec vector{.bv_page = ib_virt_dma_to_page(address_of(0)), .bv_len = 8, .bv_offset = 64};
  const __u64 mapped = ib_dma_map_bvec(ibdev_, &vector, DMA_TO_DEVICE);
  EXPECT_EQ(mapped, map(memory_.data() + 64, 8));
  ib_dma_unmap_bvec(ibdev_, mapped, 8, DMA_TO_DEVICE);
  vector.bv_len = kBytes;
  EXPECT_EQ(ib_dma_map_bvec(ibdev_, &vector, DMA_TO_DEVICE), ~__u64{0});
}

// DM-09.
TEST_F(DmaTest, AListIsMappedAsAWholeOrNotAtAll) {
  scatterlist list[] = {{.dma_address = address_of(0), .length = 8},
                        {.dma_address = address_of(512), .length = 8},
                        {.dma_address = address_of(1024), .length = 8}};
  EXPECT_EQ(ib_dma_map_sg(ibdev_, list, 3, DMA_TO_DEVICE), 3);
  ib_dma_unmap_sg(ibdev_, list, 3, DMA_TO_DEVICE);
  EXPECT_EQ(ib_dma_map_sg(ibdev_, list, 0, DMA_TO_DEVICE), 0);
  list[1].dma_address = address_of(kBytes);
  EXPECT_EQ(ib_dma_map_sg(ibdev_, list, 3, DMA_TO_DEVICE), 0);
}

// DM-10.
TEST_F(DmaTest, ATableSaysHowManyAreMapped) {
  scatterlist list[] = {{.dma_address = address_of(0), .length = 8},
                        {.dma_address = address_of(512), .length = 8}};
  sg_table table{.sgl = list, .nents = 0, .orig_nents = 0};
  EXPECT_EQ(ib_dma_map_sgtable_attrs(ibdev_, &table, DMA_TO_DEVICE, 0), -EIO);
  table.orig_nents = 2;
  EXPECT_EQ(ib_dma_map_sgtable_attrs(ibdev_, &table, DMA_TO_DEVICE, ~0ul), 0);
  EXPECT_EQ(table.nents, 2u);
  list[1].length = kBytes;
  EXPECT_EQ(ib_dma_map_sgtable_attrs(ibdev_, &table, DMA_TO_DEVICE, 0), -EIO);
}

// DM-11, DM-12.
TEST_F(DmaTest, NoPieceIsTooLongAndNothingHasToBeFlushed) {
  EXPECT_EQ(ib_dma_max_seg_size(ibdev_), 0xffffffffu);
  memory_[0] = 1;
  ib_dma_sync_single_for_device(ibdev_, address_of(0), 1, DMA_TO_DEVICE);
  ib_dma_sync_single_for_cpu(ibdev_, address_of(0), 1, DMA_FROM_DEVICE);
  EXPECT_EQ(memory_[0], 1);
}

}  // namespace
}  // namespace uroce::verbs
