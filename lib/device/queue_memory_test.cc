// SPDX-License-Identifier: BSD-3-Clause
// Tests of queue memory: aligned, zeroed, refused when there is none.
#include "device/queue_memory.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace uroce::device {
namespace {

TEST(QueueMemory, IsAlignedAndZeroed) {
  for (const size_t bytes : {size_t{64}, size_t{4096}, size_t{3} << 20}) {
    const auto block = allocate_queue_memory(bytes);
    ASSERT_NE(block, nullptr);
    const auto address = reinterpret_cast<uintptr_t>(block.get());
    EXPECT_EQ(address % (bytes >= size_t{2} << 20 ? size_t{2} << 20 : 64), 0u);
    const auto* first = static_cast<const uint8_t*>(block.get());
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(first[i], 0);
  }
}

// What is only asked for to be sure takes no memory until it is used.
TEST(QueueMemory, ThatIsVeryLargeComesWhenItIsUsed) {
  constexpr size_t kPage = 4096;
  const auto block = allocate_queue_memory(size_t{256} << 20);
  ASSERT_NE(block, nullptr);
  auto* const bytes = static_cast<uint8_t*>(block.get());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % (size_t{2} << 20), 0u);
  bytes[kPage] = 1;
  std::vector<unsigned char> here((size_t{256} << 20) / kPage);
  ASSERT_EQ(mincore(bytes, size_t{256} << 20, here.data()), 0);
  size_t pages = 0;
  for (const unsigned char page : here) pages += page & 1;
  EXPECT_GE(pages, 1u);
  EXPECT_LE(pages, 512u) << "more than one huge page";
  EXPECT_EQ(bytes[(size_t{256} << 20) - 1], 0);
}

TEST(QueueMemory, TooMuchIsAnErrorNotACrash) {
  EXPECT_EQ(allocate_queue_memory(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace uroce::device
