// SPDX-License-Identifier: BSD-3-Clause
// Each thread has its own last sentence.
#include "base/last_error.h"

#include <gtest/gtest.h>

#include <thread>

namespace uroce {
namespace {

TEST(LastError, IsTheThreadsOwn) {
  set_last_error("first");
  set_last_error("second");
  std::thread([] {
    EXPECT_STREQ(last_error(), "");
    set_last_error("of another");
  }).join();
  EXPECT_STREQ(last_error(), "second");
}

TEST(LastError, IsOneLine) {
  set_last_error("port a\nb: no such \x1b[31mport");
  EXPECT_STREQ(last_error(), "port a\\nb: no such \\x1b[31mport");
}

}  // namespace
}  // namespace uroce
