// SPDX-License-Identifier: BSD-3-Clause
// Tests of queue memory: aligned, zeroed, refused when there is none.
#include "device/queue_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

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

TEST(QueueMemory, TooMuchIsAnErrorNotACrash) {
  EXPECT_EQ(allocate_queue_memory(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace uroce::device
