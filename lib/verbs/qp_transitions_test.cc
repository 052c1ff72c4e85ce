// SPDX-License-Identifier: BSD-3-Clause
// Tests of ib_modify_qp over every transition of the state table: what it must have is enough, and
// nothing of it may lack.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

struct Transition {
  ib_qp_state from;
  ib_qp_state to;
  int ud;  // masks that are required, IB_QP_STATE apart
  int uc;
  int rc;
};

constexpr int kPkeyPort = IB_QP_PKEY_INDEX | IB_QP_PORT;
constexpr int kUcToRtr = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
constexpr int kRcToRts =
    IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC;
constexpr Transition kTransitions[] = {
    {IB_QPS_RESET, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_RESET, IB_QPS_INIT, kPkeyPort | IB_QP_QKEY, kPkeyPort | IB_QP_ACCESS_FLAGS,
     kPkeyPort | IB_QP_ACCESS_FLAGS},
    {IB_QPS_INIT, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_INIT, IB_QPS_INIT, 0, 0, 0},
    {IB_QPS_INIT, IB_QPS_RTR, 0, kUcToRtr,
     kUcToRtr | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER},
    {IB_QPS_INIT, IB_QPS_ERR, 0, 0, 0},
    {IB_QPS_RTR, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN, IB_QP_SQ_PSN, kRcToRts},
    {IB_QPS_RTR, IB_QPS_ERR, 0, 0, 0},
    {IB_QPS_RTS, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_RTS, IB_QPS_RTS, 0, 0, 0},
    {IB_QPS_RTS, IB_QPS_SQD, 0, 0, 0},
    {IB_QPS_RTS, IB_QPS_ERR, 0, 0, 0},
    {IB_QPS_SQD, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_SQD, IB_QPS_RTS, 0, 0, 0},
    {IB_QPS_SQD, IB_QPS_SQD, 0, 0, 0},
    {IB_QPS_SQD, IB_QPS_ERR, 0, 0, 0},
    {IB_QPS_SQE, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_SQE, IB_QPS_RTS, 0, 0, 0},
    {IB_QPS_SQE, IB_QPS_ERR, 0, 0, 0},
    {IB_QPS_ERR, IB_QPS_RESET, 0, 0, 0},
    {IB_QPS_ERR, IB_QPS_ERR, 0, 0, 0},
};

class TransitionTest : public FaceTest, public testing::WithParamInterface<ib_qp_type> {
 protected:
  int required(const Transition& row) const {
    return GetParam() == IB_QPT_UD ? row.ud : GetParam() == IB_QPT_UC ? row.uc : row.rc;
  }
  // A send whose key is none stops the send queue, of datagrams and of unreliable connections.
  void break_sending(ib_qp* qp) {
    ib_sge sge = piece(memory_.data(), 8);
    sge.lkey = 0;
    ib_ud_wr wr{};
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = IB_WR_SEND;
    wr.ah = GetParam() == IB_QPT_UD ? handle_to(device::kTestGroup) : nullptr;
    ASSERT_EQ(ib_post_send(qp, &wr.wr, nullptr), 0);
    settle_and_poll();
  }
  // A queue pair in that state.
  ib_qp* in(ib_qp_state state) {
    ib_qp* qp = make(GetParam());
    ib_qp_attr attr{};
    attr.qp_state = state;
    if (state != IB_QPS_RESET) bring_to(qp, state < IB_QPS_RTS ? state : IB_QPS_RTS, qp);
    if (state == IB_QPS_SQE) break_sending(qp);
    if (state == IB_QPS_SQD || state == IB_QPS_ERR) {
      EXPECT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
      bed_.settle();
    }
    EXPECT_EQ(state_of(qp), state);
    return qp;
  }
  void away(ib_qp* qp) {
    forget(qp);
    EXPECT_EQ(ib_destroy_qp(qp), 0);
  }
  static ib_qp_state state_of(ib_qp* qp) {
    ib_qp_attr attr{};
    ib_qp_init_attr made{};
    EXPECT_EQ(ib_query_qp(qp, &attr, IB_QP_STATE, &made), 0);
    return attr.qp_state;
  }
  static ib_qp_attr good_values(ib_qp_state to) {
    ib_qp_attr attr{};
    attr.qp_state = to;
    attr.port_num = 1;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = 0x77;
    attr.timeout = 10;
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
    attr.ah_attr = FaceTest::to(device::kTestIpv4);
    return attr;
  }
};

// QP-10, QP-11, QP-12.
TEST_P(TransitionTest, WhatIsRequiredIsEnoughAndNothingOfItMayLack) {
  for (const Transition& row : kTransitions) {
    if (row.from == IB_QPS_SQE && GetParam() == IB_QPT_RC) continue;  // it has no such state
    SCOPED_TRACE(testing::Message() << row.from << " to " << row.to);
    const int mask = required(row);
    ib_qp* qp = in(row.from);
    ib_qp_attr attr = good_values(row.to);
    for (int bit = 1; bit <= IB_QP_DEST_QPN; bit <<= 1) {
      if ((mask & bit) == 0) continue;
      EXPECT_EQ(ib_modify_qp(qp, &attr, (mask & ~bit) | IB_QP_STATE), -EINVAL) << "without " << bit;
    }
    EXPECT_EQ(ib_modify_qp(qp, &attr, mask | IB_QP_STATE | IB_QP_CAP), -EINVAL);
    EXPECT_EQ(state_of(qp), row.from);
    EXPECT_EQ(ib_modify_qp(qp, &attr, mask | IB_QP_STATE), 0);
    EXPECT_EQ(state_of(qp), row.to);
    away(qp);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TransitionTest, testing::Values(IB_QPT_RC, IB_QPT_UC, IB_QPT_UD));

class QpPacketsTest : public FaceTest {};

// QP-21.
TEST_F(QpPacketsTest, TheExpectedPsnFollowsTheMessages) {
  ib_qp* a = make(IB_QPT_RC);
  ib_qp* b = make(IB_QPT_RC);
  bring_to(a, IB_QPS_RTR, b);
  bring_to(b, IB_QPS_INIT);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RTR;
  attr.path_mtu = IB_MTU_1024;
  attr.dest_qp_num = a->qp_num;
  attr.rq_psn = 5;
  attr.ah_attr = to(device::kTestIpv4);
  ASSERT_EQ(ib_modify_qp(b, &attr, 0x129181), 0);
  ib_qp_attr start{};
  start.qp_state = IB_QPS_RTS;
  start.sq_psn = 5;
  start.timeout = 10;
  ASSERT_EQ(ib_modify_qp(a, &start, 0x12e01), 0);
  for (__u64 i = 0; i < 3; ++i) {
    ASSERT_EQ(post_recv(b, memory_.data() + 4096, 64, i), 0);
    ASSERT_EQ(post_send(a, memory_.data(), 64, i), 0);
  }
  EXPECT_EQ(settle_and_poll().size(), 6u);
  ib_qp_init_attr made{};
  ASSERT_EQ(ib_query_qp(b, &attr, 0, &made), 0);
  EXPECT_EQ(attr.rq_psn, 8u);
  ASSERT_EQ(ib_query_qp(a, &attr, 0, &made), 0);
  EXPECT_EQ(attr.sq_psn, 8u);
}

// Case 20.
TEST_F(QpPacketsTest, EachRnrTimerCodeIsGivenBack) {
  const auto [a, b] = connected();
  (void)b;
  for (const int code : {0, 1, 12, 31}) {
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_RTS;
    attr.min_rnr_timer = static_cast<__u8>(code);
    ASSERT_EQ(ib_modify_qp(a, &attr, IB_QP_STATE | IB_QP_MIN_RNR_TIMER), 0);
    ib_qp_init_attr made{};
    attr = {};
    ASSERT_EQ(ib_query_qp(a, &attr, 0, &made), 0);
    EXPECT_EQ(attr.min_rnr_timer, code);
  }
}

// QP-32.
TEST_F(QpPacketsTest, NobodyAnswersForAQueuePairThatHasGone) {
  const auto [a, b] = connected();
  forget(b);
  ASSERT_EQ(ib_destroy_qp(b), 0);
  ASSERT_EQ(post_send(a, memory_.data(), 64, 9), 0);
  std::vector<ib_wc> done;
  for (int i = 0; i < 200 && done.empty(); ++i) {
    bed_.pass(std::chrono::milliseconds(5));  // 4.2 ms is the timeout that is set
    bed_.settle(10);
    done = poll();
  }
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 9u);
  EXPECT_EQ(done[0].status, IB_WC_RETRY_EXC_ERR);
}

}  // namespace
}  // namespace uroce::verbs
