// SPDX-License-Identifier: BSD-3-Clause
// Tests of words against those of the distribution's library.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "ibverbs/distribution_fixture.h"

namespace uroce::ibverbs {
namespace {

class Words : public DistributionTest {
 protected:
  template <typename Number>
  void expect_the_same(const char* name, const char* (*ours)(Number)) {
    auto* const other = theirs(name, ours);
    ASSERT_NE(other, nullptr);
    for (int number = -2; number < 40; ++number) {
      const auto value = static_cast<Number>(number);
      EXPECT_STREQ(ours(value), other(value)) << name << ' ' << number;
    }
  }
};

TEST_F(Words, AreThoseThatProgramsKnow) {
  expect_the_same("ibv_wc_status_str", ibv_wc_status_str);
  expect_the_same("ibv_event_type_str", ibv_event_type_str);
  expect_the_same("ibv_node_type_str", ibv_node_type_str);
  expect_the_same("ibv_port_state_str", ibv_port_state_str);
}

TEST(WordsWithoutALibrary, EndWhereTheNumbersEnd) {
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR), "transport retry counter exceeded");
  EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_WQ_FATAL), "WQ fatal");
  EXPECT_STREQ(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
  EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE_DEFER), "active defer");
  EXPECT_STREQ(ibv_wc_status_str(static_cast<ibv_wc_status>(24)), "unknown");
}

}  // namespace
}  // namespace uroce::ibverbs
