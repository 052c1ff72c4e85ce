// SPDX-License-Identifier: BSD-3-Clause
// Which word is near enough to be offered, and how.
#include "config/nearest.h"

#include <gtest/gtest.h>

namespace uroce::config {
namespace {

constexpr std::string_view kWords[] = {"mode", "rings", "cores", "log_level", "own"};

TEST(Nearest, FindsASlipOfTheFinger) {
  EXPECT_EQ(nearest("ringz", kWords), "rings");
  EXPECT_EQ(nearest("moed", kWords), "mode") << "swapped";
  EXPECT_EQ(nearest("core", kWords), "cores") << "left out";
  EXPECT_EQ(nearest("log-level", kWords), "log_level");
  EXPECT_EQ(nearest("loglvel", kWords), "log_level");
  EXPECT_EQ(nearest("mode", kWords), "mode");
  EXPECT_EQ(nearest("ringsxx", kWords), "rings") << "as many letters more as may be";
}

TEST(Nearest, OffersNothingForAWordOfItsOwn) {
  EXPECT_EQ(nearest("frobnicate", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
  EXPECT_EQ(nearest("mode", {}), "");
  EXPECT_EQ(nearest("ringsxxx", kWords), "") << "a letter too many";
}

TEST(Nearest, AnUnknownWordIsNamedWithWhatIsKnown) {
  EXPECT_EQ(unknown_word("key", "ringz", kWords),
            "unknown key 'ringz', nearest is rings; known are mode, rings, cores, log_level, own");
  EXPECT_EQ(unknown_word("key", "frobnicate", kWords),
            "unknown key 'frobnicate': known are mode, rings, cores, log_level, own");
}

}  // namespace
}  // namespace uroce::config
