// SPDX-License-Identifier: BSD-3-Clause
// Tests of finding DPDK's memory.
#include "nic/eal_memory.h"

#include <gtest/gtest.h>
#include <rte_malloc.h>

namespace uroce::nic {
namespace {

// DM-02, DM-04: DPDK's memory is found without registration, the stack is not.
TEST(EalMemory, IsWhatDpdkGave) {
  void* memory = rte_malloc("test", 64, 64);
  ASSERT_NE(memory, nullptr);
  const auto address = reinterpret_cast<uint64_t>(memory);
  uint64_t start = 0;
  uint64_t length = 0;
  EXPECT_TRUE(find_eal_memory(address, start, length));
  EXPECT_LE(start, address);
  EXPECT_LE(address + 64, start + length);
  rte_free(memory);
  const auto stack = reinterpret_cast<uint64_t>(&length);
  EXPECT_FALSE(find_eal_memory(stack, start, length));
}

}  // namespace
}  // namespace uroce::nic
