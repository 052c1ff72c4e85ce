// SPDX-License-Identifier: BSD-3-Clause
// Tests of what programs ask before they fork.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "ibverbs/undeclared.h"

namespace uroce::ibverbs {
namespace {

TEST(ForkInit, HasNothingToDo) {
  EXPECT_EQ(ibv_fork_init(), 0);
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

TEST(ForkInit, LeavesMemoryToTheChild) {
  std::vector<char> memory(3 * 4096, 'a');
  ASSERT_EQ(ibv_dontfork_range(memory.data(), memory.size()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(memory[4096] == 'a' ? 7 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(ibv_dofork_range(memory.data(), memory.size()), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
