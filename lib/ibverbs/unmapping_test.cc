// SPDX-License-Identifier: BSD-3-Clause
// Tests of the way that DPDK's munmap() takes.
#include <gtest/gtest.h>

#include <cstddef>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" int __wrap_munmap(void* address, size_t length);

namespace {

void* unmapped = nullptr;
size_t unmapped_bytes = 0;

}  // namespace

extern "C" int __real_munmap(void* address, size_t length);
int __real_munmap(void* address, size_t length) {
  unmapped = address;
  unmapped_bytes = length;
  return -7;
}

namespace {

TEST(Unmapping, OfAnyOtherThreadGoesThrough) {
  int place = 0;
  EXPECT_EQ(__wrap_munmap(&place, 4096), -7);
  EXPECT_EQ(unmapped, &place);
  EXPECT_EQ(unmapped_bytes, 4096u);
}

}  // namespace
// NOLINTEND(bugprone-reserved-identifier)
