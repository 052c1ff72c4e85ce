// SPDX-License-Identifier: BSD-3-Clause
// Tests of queue pairs of the native face as objects, and of the state table by the vectors of G3.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

struct Vector {
  int number;
  ib_qp_state current;
  ib_qp_state next;
  ib_qp_type type;
  int mask;
  bool legal;
};

constexpr ib_qp_state kReset = IB_QPS_RESET, kInit = IB_QPS_INIT, kRtr = IB_QPS_RTR,
                      kRts = IB_QPS_RTS, kSqd = IB_QPS_SQD, kSqe = IB_QPS_SQE, kErr = IB_QPS_ERR;
constexpr ib_qp_type kRc = IB_QPT_RC, kUc = IB_QPT_UC, kUd = IB_QPT_UD, kGsi = IB_QPT_GSI;

constexpr Vector kVectors[] = {
    {1, kReset, kInit, kRc, 0x39, true},      {2, kReset, kInit, kRc, 0x31, false},
    {3, kReset, kInit, kUd, 0x71, true},      {4, kReset, kInit, kUd, 0x39, false},
    {5, kReset, kInit, kGsi, 0x51, true},     {6, kReset, kInit, kGsi, 0x71, false},
    {7, kReset, kRtr, kRc, 0x129181, false},  {8, kReset, kErr, kRc, 0x1, false},
    {9, kInit, kInit, kRc, 0x39, true},       {10, kInit, kInit, kRc, 0x1, true},
    {11, kInit, kRtr, kRc, 0x129181, true},   {12, kInit, kRtr, kRc, 0x129180, true},
    {13, kInit, kRtr, kRc, 0x109181, false},  {14, kInit, kRtr, kUc, 0x101181, true},
    {15, kInit, kRtr, kUc, 0x129181, false},  {16, kInit, kRtr, kUd, 0x1, true},
    {17, kInit, kRtr, kUd, 0x51, true},       {18, kInit, kRtr, kUd, 0x101181, false},
    {19, kInit, kRtr, kRc, 0x2129181, false}, {20, kRtr, kRtr, kRc, 0x1, false},
    {21, kRtr, kRts, kRc, 0x12e01, true},     {22, kRtr, kRts, kRc, 0x12e03, true},
    {23, kRtr, kRts, kRc, 0x12c01, false},    {24, kRtr, kRts, kUc, 0x10001, true},
    {25, kRtr, kRts, kUd, 0x10001, true},     {26, kRtr, kRts, kUd, 0x10043, true},
    {27, kRtr, kRts, kUd, 0x12e01, false},    {28, kRtr, kRts, kRc, 0x2012e01, false},
    {29, kRts, kRts, kRc, 0x1, true},         {30, kRts, kRts, kRc, 0x800b, true},
    {31, kRts, kRts, kUd, 0x41, true},        {32, kRts, kRts, kUd, 0x9, false},
    {33, kRts, kSqd, kRc, 0x1, true},         {34, kRts, kSqd, kRc, 0x5, true},
    {35, kRts, kSqe, kUd, 0x1, false},        {36, kRts, kErr, kRc, 0x1, true},
    {37, kRts, kErr, kRc, 0x41, false},       {38, kRts, kReset, kRc, 0x1, true},
    {39, kRts, kInit, kRc, 0x39, false},      {40, kSqd, kSqd, kRc, 0x6eeb9, true},
    {41, kSqd, kRts, kRc, 0x1, true},         {42, kSqd, kSqd, kUd, 0x51, true},
    {43, kSqe, kRts, kUd, 0x1, true},         {44, kSqe, kRts, kUd, 0x43, true},
    {45, kSqe, kRts, kRc, 0x1, true},         {46, kSqe, kRts, kRc, 0x9, false},
    {47, kErr, kReset, kRc, 0x1, true},       {48, kErr, kInit, kRc, 0x39, false},
    {49, kErr, kErr, kUd, 0x1, true},         {50, kInit, kRtr, kRc, 0x129183, false},
    {51, kRts, kRts, kRc, 0x80001, false},
};

TEST(ModifyQpIsOk, G3) {
  for (const Vector& v : kVectors) {
    EXPECT_EQ(ib_modify_qp_is_ok(v.current, v.next, v.type, static_cast<ib_qp_attr_mask>(v.mask)),
              v.legal)
        << "OK-" << v.number;
  }
}

TEST(ModifyQpIsOk, StatesThatDoNotExistAreNever) {
  const auto seventh = static_cast<ib_qp_state>(7);
  EXPECT_FALSE(ib_modify_qp_is_ok(seventh, IB_QPS_RESET, IB_QPT_RC, IB_QP_STATE));
  EXPECT_FALSE(ib_modify_qp_is_ok(IB_QPS_RTS, seventh, IB_QPT_RC, IB_QP_STATE));
}

TEST(ModifyQpIsOk, TypesThatDoNotExistAreNever) {
  for (const int type : {11, 0xff, 0x102, 999, -1}) {
    const auto unknown = static_cast<ib_qp_type>(type);
    EXPECT_FALSE(ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_INIT, unknown, ib_qp_attr_mask{})) << type;
    EXPECT_FALSE(ib_modify_qp_is_ok(IB_QPS_RTS, IB_QPS_ERR, unknown, IB_QP_STATE)) << type;
  }
}

class QpTest : public FaceTest {
 protected:
  long error_of(ib_qp_init_attr attr) {
    ib_qp* qp = ib_create_qp(pd_, &attr);
    if (IS_ERR(qp)) return PTR_ERR(qp);
    qps_.push_back(qp);
    return 0;
  }
};

// QP-01, QP-02, QP-03, QP-04, QP-06, QP-07, QP-08.
TEST_F(QpTest, CreationChecksAndGrants) {
  ib_qp_init_attr attr = init(IB_QPT_RC);
  attr.recv_cq = nullptr;
  EXPECT_EQ(error_of(attr), -EINVAL);
  attr = init(IB_QPT_RC);
  attr.cap.max_send_wr = static_cast<__u32>(ibdev_->attrs.max_qp_wr) + 1;
  EXPECT_EQ(error_of(attr), -EINVAL);
  EXPECT_EQ(error_of(init(IB_QPT_SMI)), -EOPNOTSUPP);
  EXPECT_EQ(error_of(init(IB_QPT_XRC_TGT)), -EINVAL) << "no domain";
  attr = init(IB_QPT_UD);
  attr.create_flags = 1;
  EXPECT_EQ(error_of(attr), -EOPNOTSUPP);
  attr = init(IB_QPT_UD);
  attr.create_flags = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
  EXPECT_EQ(error_of(attr), 0);

  attr = init(IB_QPT_RC);
  ib_qp* qp = ib_create_qp(pd_, &attr);
  ASSERT_FALSE(IS_ERR(qp));
  qps_.push_back(qp);
  EXPECT_GE(qp->qp_num, 2u);
  EXPECT_LE(qp->qp_num, 0xFFFFFEu);
  EXPECT_GE(attr.cap.max_send_wr, 8u);
  EXPECT_GE(attr.cap.max_inline_data, 64u);
  EXPECT_EQ(ib_destroy_cq(cq_), -EBUSY);
}

// QP-05.
TEST_F(QpTest, ASecondGsiQueuePairIsRefused) {
  ib_qp_init_attr attr = init(IB_QPT_GSI);
  EXPECT_EQ(error_of(attr), -EINVAL) << "no port";
  attr.port_num = 1;
  EXPECT_EQ(error_of(attr), 0);
  EXPECT_EQ(qps_.back()->qp_num, 1u);
  EXPECT_EQ(error_of(attr), -EINVAL);
}

// QP-13, QP-20, QP-22.
TEST_F(QpTest, QueryTellsWhatWasSet) {
  ib_qp* qp = make(IB_QPT_RC);
  ib_qp_attr attr{};
  ib_qp_init_attr made{};
  ASSERT_EQ(ib_query_qp(qp, &attr, 0, &made), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_RESET);
  EXPECT_GE(attr.cap.max_recv_wr, 8u);
  EXPECT_EQ(made.qp_type, IB_QPT_RC);
  EXPECT_EQ(made.send_cq, cq_);
  bring_to(qp, IB_QPS_RTS, qp);
  ASSERT_EQ(ib_query_qp(qp, &attr, IB_QP_STATE, &made), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.cur_qp_state, IB_QPS_RTS);
  EXPECT_EQ(attr.dest_qp_num, qp->qp_num);
  EXPECT_EQ(attr.path_mtu, IB_MTU_1024);
  EXPECT_EQ(attr.sq_psn, 100u);
  EXPECT_EQ(attr.rq_psn, 100u);
  EXPECT_EQ(attr.timeout, 10);
  EXPECT_EQ(attr.ah_attr.grh.sgid_index, 1);
  EXPECT_EQ(to_gid(attr.ah_attr.grh.dgid), device::kTestIpv4);
}

// QP-13.
TEST_F(QpTest, PsnsAreCutToTheir24Bits) {
  ib_qp* qp = make(IB_QPT_RC);
  bring_to(qp, IB_QPS_INIT);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RTR;
  attr.path_mtu = IB_MTU_256;
  attr.rq_psn = 0x1234567;
  attr.ah_attr = to(device::kTestIpv4);
  ASSERT_EQ(ib_modify_qp(qp, &attr, 0x129181), 0);
  ib_qp_init_attr made{};
  ASSERT_EQ(ib_query_qp(qp, &attr, 0, &made), 0);
  EXPECT_EQ(attr.rq_psn, 0x234567u);
}

// QP-12, QP-15, QP-17.
TEST_F(QpTest, ARefusedModifyChangesNothing) {
  ib_qp* qp = make(IB_QPT_RC);
  bring_to(qp, IB_QPS_INIT);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39 | IB_QP_RATE_LIMIT), -EOPNOTSUPP);
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39 | IB_QP_ALT_PATH), -EINVAL);
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39 | IB_QP_CAP), -EINVAL);
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39 | IB_QP_QKEY), -EINVAL);
  attr.port_num = 257;
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39), -EINVAL) << "not port 1 by its low byte";
  attr.port_num = 1;
  attr.pkey_index = 256;
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39), -EINVAL);
  attr.pkey_index = 0;
  attr.qp_state = static_cast<ib_qp_state>(7);
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x39), -EINVAL);
  ib_qp_init_attr made{};
  ASSERT_EQ(ib_query_qp(qp, &attr, 0, &made), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_INIT);
}

// QP-18, UD-01: the user's form finds the MAC address, and without one nothing has changed.
TEST_F(QpTest, TheUserFormDoesNotBelieveTheMacGiven) {
  ib_qp* qp = make(IB_QPT_RC);
  bring_to(qp, IB_QPS_INIT);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RTR;
  attr.path_mtu = IB_MTU_256;
  attr.ah_attr = to(device::kTestPeer);
  attr.ah_attr.roce.dmac[0] = 2;
  ib_udata none{};
  EXPECT_EQ(ib_modify_qp_with_udata(qp, &attr, 0x129181, &none), -ETIMEDOUT);
  ib_qp_attr now{};
  ib_qp_init_attr made{};
  ASSERT_EQ(ib_query_qp(qp, &now, 0, &made), 0);
  EXPECT_EQ(now.qp_state, IB_QPS_INIT);
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x129181), 0) << "the plain form does";
  none.inlen = 4;
  EXPECT_EQ(ib_destroy_qp_user(qp, &none), -EINVAL);
  EXPECT_EQ(ib_destroy_qp_user(qp, nullptr), 0);
  forget(qp);
}

// QP-19.
TEST_F(QpTest, AQkeyOfTheUpperHalfIsForThePrivileged) {
  ib_qp* qp = make(IB_QPT_UD);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = 0x80000001;
  EXPECT_EQ(ib_modify_qp_with_udata(qp, &attr, 0x71, nullptr), -EPERM);
  attr.qkey = 0x7FFFFFFF;
  EXPECT_EQ(ib_modify_qp_with_udata(qp, &attr, 0x71, nullptr), 0);
  attr.qkey = 0x80000001;
  EXPECT_EQ(ib_modify_qp(qp, &attr, 0x71), 0) << "the plain form is the kernel's own";
}

class PrivilegedQpTest : public FaceTest {
 protected:
  PrivilegedQpTest() : FaceTest({.privileged_qkey = true}) {}
};

// QP-19.
TEST_F(PrivilegedQpTest, MaySetThem) {
  ib_qp* qp = make(IB_QPT_UD);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = 0x80000001;
  EXPECT_EQ(ib_modify_qp_with_udata(qp, &attr, 0x71, nullptr), 0);
}

// QP-31; case 47: none of its completions can be polled afterwards.
TEST_F(QpTest, DestroyTakesUnpolledCompletionsOutOfTheCq) {
  const auto [a, b] = connected();
  ASSERT_EQ(post_recv(b, memory_.data() + 4096, 64, 7), 0);
  ASSERT_EQ(post_send(a, memory_.data(), 64, 8), 0);
  bed_.settle();
  ASSERT_EQ(ib_destroy_qp(a), 0);
  forget(a);
  const auto left = poll();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].qp, b);
}

TEST_F(QpTest, DestroyWithWorkQueuedIsQuiet) {
  const auto [a, b] = connected();
  for (__u64 i = 0; i < 4; ++i) ASSERT_EQ(post_send(a, memory_.data(), 64, i), 0);
  ASSERT_EQ(post_recv(a, memory_.data(), 64, 7), 0);
  ASSERT_EQ(ib_destroy_qp(a), 0);
  forget(a);
  EXPECT_TRUE(settle_and_poll().empty());
  (void)b;
}

// Case 47: a datagram whose completion has been seen is not lost with its queue pair.
TEST_F(QpTest, ADatagramReportedSentIsOnTheWireEvenIfItsQueuePairGoesAtOnce) {
  ib_qp* qp = make(IB_QPT_UD);
  bring_to(qp, IB_QPS_RTS);
  ib_ah* ah = handle_to(device::kTestGroup);
  bed_.settle();
  bed_.wire.clear();
  memory_[0] = 0x5A;
  ASSERT_EQ(post_datagram(qp, ah, 0, memory_.data(), 1, 1), 0);
  std::vector<ib_wc> done;
  for (int turn = 0; turn < 100 && done.empty(); ++turn) {
    bed_.settle(1);
    done = poll();
  }
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IB_WC_SUCCESS);
  ASSERT_EQ(ib_destroy_qp(qp), 0);
  forget(qp);
  ASSERT_EQ(bed_.wire.size(), 1u);
  EXPECT_EQ(bed_.wire[0].at(14 + 20 + 8 + 12 + 8), 0x5A) << "behind IPv4, UDP, BTH and DETH";
}

// Case 47: whatever the state and whatever is pending.
TEST_F(QpTest, DestroyWorksFromEveryStateAndLeavesNoCompletion) {
  for (const ib_qp_type type : {IB_QPT_RC, IB_QPT_UC, IB_QPT_UD}) {
    for (const ib_qp_state state : {kReset, kInit, kRtr, kRts, kSqd, kErr}) {
      if (state == kSqd && type != IB_QPT_RC) continue;  // reached the same way by all
      ib_qp* qp = make(type);
      if (state != kReset) bring_to(qp, state < kRts ? state : kRts, qp);
      ib_qp_attr attr{};
      attr.qp_state = state;
      if (state == kSqd || state == kErr) {
        ASSERT_EQ(ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
      }
      for (__u64 i = 0; i < 4 && state != kReset; ++i) {
        ASSERT_EQ(post_recv(qp, memory_.data() + 4096, 64, i), 0);
        if (state >= kRts && type != IB_QPT_UD) {
          ASSERT_EQ(post_send(qp, memory_.data(), 64, i), 0);
        }
      }
      EXPECT_EQ(ib_destroy_qp(qp), 0) << type << " in state " << state;
      forget(qp);
      EXPECT_TRUE(settle_and_poll().empty()) << type << " in state " << state;
    }
  }
}

// What was completed before belongs to a life that is over.
TEST_F(QpTest, ResetTakesBackWhatNobodyHasPolled) {
  const auto [a, b] = connected();
  const auto [other, peer] = connected();
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{other, peer}}) {
    ASSERT_EQ(post_recv(to, memory_.data() + 4096, 64, 1), 0);
    ASSERT_EQ(post_send(from, memory_.data(), 8, 2), 0);
  }
  bed_.settle();
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_RESET;
  EXPECT_EQ(ib_modify_qp(a, &attr, IB_QP_STATE), 0);
  EXPECT_EQ(ib_modify_qp(b, &attr, IB_QP_STATE), 0);
  const std::vector<ib_wc> left = poll();
  ASSERT_EQ(left.size(), 2u);
  for (const ib_wc& wc : left) EXPECT_TRUE(wc.qp == other || wc.qp == peer);
}

}  // namespace
}  // namespace uroce::verbs
