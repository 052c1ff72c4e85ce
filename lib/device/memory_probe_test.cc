// SPDX-License-Identifier: BSD-3-Clause
// Tests of the memory probe on mappings with holes, of all ways of asking.
#include "device/memory_probe.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace uroce::device {
namespace {

using Probe = int (*)(uint64_t, uint64_t, bool);

class MemoryProbe : public testing::TestWithParam<Probe> {
 protected:
  void SetUp() override {
    page_ = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    void* map =
        mmap(nullptr, 4 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(map, MAP_FAILED);
    base_ = reinterpret_cast<uint64_t>(map);
  }
  void TearDown() override { munmap(at(0), 4 * page_); }
  void* at(uint64_t page) const { return reinterpret_cast<void*>(base_ + page * page_); }
  int probe(uint64_t start, uint64_t length, bool writable) const {
    return GetParam()(start, length, writable);
  }

  uint64_t page_ = 0;
  uint64_t base_ = 0;
};

TEST_P(MemoryProbe, MemoryThatIsThereIsGoodAndKeepsItsBytes) {
  std::memset(at(0), 0x5A, 4 * page_);
  EXPECT_EQ(probe(base_ + 3, 4 * page_ - 7, true), 0);
  EXPECT_EQ(probe(base_ + 3, 1, false), 0);
  for (uint64_t i = 0; i < 4 * page_; ++i) {
    ASSERT_EQ(reinterpret_cast<uint8_t*>(base_)[i], 0x5A);
  }
}

// Cases 56.
TEST_P(MemoryProbe, NullIsBad) {
  EXPECT_EQ(probe(0, 1, false), -EFAULT);
  EXPECT_EQ(probe(0, page_, true), -EFAULT);
}

TEST_P(MemoryProbe, AHoleInTheMiddleIsBad) {
  munmap(at(2), page_);
  EXPECT_EQ(probe(base_, 4 * page_, false), -EFAULT);
  EXPECT_EQ(probe(base_, 2 * page_ + 1, true), -EFAULT);
  EXPECT_EQ(probe(base_, 2 * page_, true), 0) << "up to the hole";
}

TEST_P(MemoryProbe, ReadOnlyMemoryIsGoodForReadingOnly) {
  mprotect(at(1), page_, PROT_READ);
  EXPECT_EQ(probe(base_, 2 * page_, false), 0);
  EXPECT_EQ(probe(base_, 2 * page_, true), -EFAULT);
}

TEST_P(MemoryProbe, MemoryWithoutAnyRightIsBad) {
  mprotect(at(1), page_, PROT_NONE);
  EXPECT_EQ(probe(base_, 2 * page_, false), -EFAULT);
}

INSTANTIATE_TEST_SUITE_P(AllWays, MemoryProbe,
                         testing::Values(&probe_memory, &probe_memory_by_page,
                                         &probe_memory_by_mapping));

TEST(LargeMemoryProbe, ReservedMemoryIsGoodAndIsNotBroughtIn) {
  constexpr uint64_t kBytes = 2 * kBroughtInMax;
  void* const map = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  const auto start = reinterpret_cast<uint64_t>(map);
  EXPECT_EQ(probe_memory(start, kBytes, true), 0);
  uint8_t resident = 1;
  ASSERT_EQ(mincore(map, 1, &resident), 0);
  EXPECT_EQ(resident & 1, 0);
  mprotect(reinterpret_cast<uint8_t*>(map) + kBroughtInMax, 1, PROT_READ);
  EXPECT_EQ(probe_memory(start, kBytes, true), -EFAULT);
  EXPECT_EQ(probe_memory(start, kBytes, false), 0);
  munmap(map, kBytes);
}

}  // namespace
}  // namespace uroce::device
