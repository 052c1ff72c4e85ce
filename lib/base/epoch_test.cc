// SPDX-License-Identifier: BSD-3-Clause
// A grace period lasts exactly as long as a turn that began before it.
#include "base/epoch.h"

#include <gtest/gtest.h>

namespace uroce {
namespace {

TEST(Epoch, AnEngineOutsideATurnIsQuiet) {
  EpochSlot slot;
  EXPECT_TRUE(slot.quiet_since(slot.snapshot()));
}

TEST(Epoch, WaitsForTheTurnThatWasRunningAndNotForTheNext) {
  EpochSlot slot;
  slot.begin_turn(false);
  const uint64_t snapshot = slot.snapshot();
  EXPECT_FALSE(slot.quiet_since(snapshot));
  slot.end_turn();
  EXPECT_TRUE(slot.quiet_since(snapshot));
  slot.begin_turn(true);
  EXPECT_TRUE(slot.quiet_since(snapshot));
  EXPECT_TRUE(slot.inside_turn());
}

}  // namespace
}  // namespace uroce
