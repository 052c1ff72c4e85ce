// SPDX-License-Identifier: BSD-3-Clause
// Threads that come and go do not use the lcore IDs up.
#include "nic/lcore_identity.h"

#include <gtest/gtest.h>
#include <rte_lcore.h>

#include <thread>

namespace uroce::nic {
namespace {

TEST(LcoreIdentity, IsGivenBackWhenItsThreadEnds) {
  for (int i = 0; i < 2 * RTE_MAX_LCORE; ++i) {
    bool had_none = false;
    bool has_one = false;
    bool keeps_it = false;
    std::thread([&] {
      had_none = rte_lcore_id() == LCORE_ID_ANY;
      has_one = take_lcore_identity();
      const unsigned id = rte_lcore_id();
      keeps_it = take_lcore_identity() && rte_lcore_id() == id;
    }).join();
    ASSERT_TRUE(had_none && has_one && keeps_it) << "thread " << i;
  }
}

TEST(LcoreIdentity, OfTheMainLcoreStaysWhatItIs) {
  const unsigned id = rte_lcore_id();
  EXPECT_TRUE(take_lcore_identity());
  EXPECT_EQ(rte_lcore_id(), id);
}

}  // namespace
}  // namespace uroce::nic
