// SPDX-License-Identifier: BSD-3-Clause
// An engine learns of the end of grace periods without waiting for them.
#include "base/grace_rounds.h"

#include <gtest/gtest.h>

namespace uroce {
namespace {

class GraceRoundsTest : public ::testing::Test {
 protected:
  GraceRoundsTest() { rounds.watch(engines, 0, 3); }
  EpochSlot own;
  EpochSlot second;
  EpochSlot third;
  std::vector<const EpochSlot*> engines{&own, &second, &third};
  GraceRounds rounds;
};

TEST_F(GraceRoundsTest, WithoutOtherEnginesEveryTicketIsOver) {
  GraceRounds alone;
  EXPECT_TRUE(alone.over(alone.ask()));
  alone.watch(engines, 0, 1);
  EXPECT_TRUE(alone.over(alone.ask()));
}

TEST_F(GraceRoundsTest, TheOwnTurnIsNotWaitedForAndQuietOnesAreNoDelay) {
  own.begin_turn(false);
  EXPECT_TRUE(rounds.over(rounds.ask()));
}

TEST_F(GraceRoundsTest, LastsUntilEveryTurnThatWasRunningHasEnded) {
  second.begin_turn(false);
  third.begin_turn(false);
  const uint64_t ticket = rounds.ask();
  EXPECT_FALSE(rounds.over(ticket));
  second.end_turn();
  EXPECT_FALSE(rounds.over(ticket));
  second.begin_turn(false);  // a later turn cannot have seen what is gone
  third.end_turn();
  EXPECT_TRUE(rounds.over(ticket));
}

TEST_F(GraceRoundsTest, ARoundThatRunsAlreadyIsNoGoodForALaterAsker) {
  second.begin_turn(false);
  const uint64_t first = rounds.ask();
  third.begin_turn(false);  // may use what the second asker then takes back
  const uint64_t later = rounds.ask();
  second.end_turn();
  EXPECT_TRUE(rounds.over(first));
  EXPECT_FALSE(rounds.over(later));
  third.end_turn();
  EXPECT_TRUE(rounds.over(later));
}

TEST_F(GraceRoundsTest, EnginesThatNobodyDrivesAreQuiet) {
  std::vector<const EpochSlot*> some{&own, nullptr};
  GraceRounds with_gaps;
  with_gaps.watch(some, 0, 3);
  EXPECT_TRUE(with_gaps.over(with_gaps.ask()));
}

}  // namespace
}  // namespace uroce
