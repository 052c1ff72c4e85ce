// SPDX-License-Identifier: BSD-3-Clause
// Splitting the command line, and refusing what EAL would answer with a page of usage.
#include "worker/eal.h"

#include <gtest/gtest.h>

namespace uroce::worker {
namespace {

TEST(Arguments, SplitAtTheFirstDoubleDash) {
  const char* arguments[] = {"prog", "-l", "0", "--", "--rings", "1", "--", "x"};
  const SplitArguments split = split_arguments(arguments);
  EXPECT_EQ(split.eal, (std::vector<std::string>{"prog", "-l", "0"}));
  EXPECT_EQ(split.own, (std::vector<std::string>{"--rings", "1", "--", "x"}));
}

TEST(Arguments, WithoutADoubleDashAllIsEals) {
  const char* arguments[] = {"prog", "-l", "0"};
  EXPECT_EQ(split_arguments(arguments).eal.size(), 3u);
  EXPECT_TRUE(split_arguments(arguments).own.empty());
}

TEST(Eal, RefusesWhatExcludesEachOtherInOneSentence) {
  const auto eal = Eal::start({"prog", "--no-huge", "--in-memory"});
  ASSERT_FALSE(eal.ok());
  EXPECT_EQ(eal.status().message(),
            "--no-huge and --in-memory exclude each other: leave one of them out");
}

TEST(Eal, CannotBeAdoptedWhereItNeverStarted) { EXPECT_FALSE(Eal::adopt().ok()); }

}  // namespace
}  // namespace uroce::worker
