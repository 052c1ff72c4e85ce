// SPDX-License-Identifier: BSD-3-Clause
// Tests of device memory.
#include "ibverbs/device_memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

constexpr unsigned kZeroBased = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE;

class DeviceMemory : public DomainTest {
 protected:
  ibv_dm* alloc(size_t length, uint32_t alignment = 0, uint32_t mask = 0) {
    ibv_alloc_dm_attr attr{.length = length, .log_align_req = alignment, .comp_mask = mask};
    return ibv_alloc_dm(context_, &attr);
  }
};

TEST_F(DeviceMemory, IsCopiedToAndFrom) {
  ibv_dm* const dm = alloc(100);
  ASSERT_NE(dm, nullptr);
  EXPECT_EQ(dm->context, context_);
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 4, "word", 4), 0);
  char text[8] = {};
  EXPECT_EQ(ibv_memcpy_from_dm(text, dm, 0, 8), 0);
  EXPECT_EQ(std::memcmp(text, "\0\0\0\0word", 8), 0);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemory, IsCopiedInWordsAndWithinItself) {
  ibv_dm* const dm = alloc(100);
  ASSERT_NE(dm, nullptr);
  const std::array<std::pair<uint64_t, size_t>, 5> bad{
      {{3, 4}, {4, 3}, {104, 4}, {0, 104}, {UINT64_MAX - 3, 8}}};
  std::array<uint8_t, 128> bytes{};
  for (const auto& [offset, length] : bad) {
    EXPECT_EQ(ibv_memcpy_to_dm(dm, offset, bytes.data(), length), EINVAL) << offset;
    EXPECT_EQ(ibv_memcpy_from_dm(bytes.data(), dm, offset, length), EINVAL) << offset;
  }
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemory, HasLimitsAndAlignment) {
  errno = 0;
  EXPECT_EQ(alloc(kDeviceMemoryBytesMax + 1), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(alloc(8, 0, 1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(alloc(0), nullptr);
  EXPECT_EQ(alloc(8, 40), nullptr);
  ibv_dm* const dm = alloc(kDeviceMemoryBytesMax, 12);
  ASSERT_NE(dm, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(of(dm).bytes) % 4096, 0u);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemory, IsRegisteredByOffsets) {
  ibv_dm* const dm = alloc(100);
  ibv_mr* const mr = ibv_reg_dm_mr(pd_, dm, 20, 80, kZeroBased);
  ASSERT_NE(mr, nullptr);
  uint8_t* found = nullptr;
  EXPECT_EQ(bed().keys().translate(Key(mr->lkey), of(pd_).object->number, memory::kLocalWrite, 0,
                                   80, found),
            memory::KeyVerdict::kGood);
  EXPECT_EQ(found, of(dm).bytes + 20);
  EXPECT_EQ(ibv_free_dm(dm), EBUSY);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemory, IsNotRegisteredBeyondItselfOrByAddresses) {
  ibv_dm* const dm = alloc(100);
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 0, 104, kZeroBased), nullptr);
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 101, 0, kZeroBased), nullptr);
  errno = 0;
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 0, 100, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemory, OfNoBytesIsRegisteredAndOpensNothing) {
  ibv_dm* const dm = alloc(100);
  ibv_mr* const mr = ibv_reg_dm_mr(pd_, dm, 0, 0, kZeroBased);
  ASSERT_NE(mr, nullptr);
  uint8_t* found = nullptr;
  EXPECT_NE(bed().keys().translate(Key(mr->lkey), of(pd_).object->number, 0, 0, 1, found),
            memory::KeyVerdict::kGood);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
