// SPDX-License-Identifier: BSD-3-Clause
// What is registered for the end is left out. That the library registers nothing anywhere else is
// looked at in the file (test/dropin/library_test.py).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's name
extern "C" int __wrap___cxa_atexit(void (*end)(void*), void* object, void* library);

namespace {

int ended = 0;

TEST(StaticEnds, AreLeftOut) {
  EXPECT_EXIT(
      {
        if (__wrap___cxa_atexit([](void*) { _exit(++ended); }, nullptr, nullptr) != 0) _exit(9);
        exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
// NOLINTEND(bugprone-reserved-identifier)
