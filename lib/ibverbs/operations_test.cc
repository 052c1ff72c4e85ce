// SPDX-License-Identifier: BSD-3-Clause
// Tests of the tables of an opened device: what rdma-core's inline calls find there.
#include "ibverbs/operations.h"

#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

TEST_F(FaceTest, HasTheTablesWhereInlineCallsLookForThem) {
  EXPECT_EQ(verbs_get_ctx(context_), &of(context_).verbs);
  EXPECT_EQ(of(context_).verbs.sz, sizeof(verbs_context));
}

// What no software device can have is no entry, and the inline calls say so.
TEST_F(FaceTest, HasNoFlowsCountersOrWorkQueues) {
  ibv_flow_attr flow{};
  ibv_qp qp{};
  qp.context = context_;
  errno = 0;
  EXPECT_EQ(ibv_create_flow(&qp, &flow), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  errno = 0;
  EXPECT_EQ(ibv_create_counters(context_, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  errno = 0;
  EXPECT_EQ(ibv_create_wq(context_, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  errno = 0;
  EXPECT_EQ(ibv_create_rwq_ind_table(context_, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_modify_qp_rate_limit(&qp, nullptr), EOPNOTSUPP);
}

}  // namespace
}  // namespace uroce::ibverbs
