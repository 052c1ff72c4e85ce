// SPDX-License-Identifier: BSD-3-Clause
// Tests of queue pairs as objects.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

class QpTest : public QueuesTest {
 protected:
  ibv_qp_attr query(ibv_qp* qp) {
    ibv_qp_attr attr{};
    EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &made_), 0);
    return attr;
  }
  int modify(ibv_qp* qp, ibv_qp_state state, int mask = IBV_QP_STATE) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    return ibv_modify_qp(qp, &attr, mask);
  }
  ibv_qp_init_attr_ex extended(ibv_qp_type type, uint32_t mask) const {
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.cap = init(type).cap;
    attr.qp_type = type;
    attr.comp_mask = mask;
    attr.pd = pd_;
    return attr;
  }
  // Its errno, or 0; it is not kept.
  int make_ex(ibv_qp_init_attr_ex attr) {
    errno = 0;
    ibv_qp* const qp = ibv_create_qp_ex(context_, &attr);
    if (qp == nullptr) return errno;
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    return 0;
  }
  ibv_qp_init_attr made_{};
};

TEST_F(QpTest, ShowsHowItWasMade) {
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND}) {
    ibv_qp_init_attr attr = init(type);
    attr.qp_context = this;
    attr.sq_sig_all = 1;
    ibv_qp* const qp = make(attr);
    EXPECT_EQ(qp->context, context_);
    EXPECT_EQ(qp->qp_context, this);
    EXPECT_EQ(qp->pd, pd_);
    EXPECT_EQ(qp->send_cq, cq_);
    EXPECT_EQ(qp->recv_cq, attr.recv_cq);
    EXPECT_EQ(qp->srq, nullptr);
    EXPECT_EQ(qp->state, IBV_QPS_RESET);
    EXPECT_EQ(qp->qp_type, type);
    EXPECT_GT(qp->qp_num, 1u);
    const ibv_qp_attr now = query(qp);
    EXPECT_EQ(now.qp_state, IBV_QPS_RESET);
    EXPECT_GE(now.cap.max_send_wr, 8u);
    EXPECT_EQ(made_.qp_context, this);
    EXPECT_EQ(made_.sq_sig_all, 1);
    EXPECT_EQ(made_.qp_type, type);
    EXPECT_EQ(made_.send_cq, cq_);
    EXPECT_GE(made_.cap.max_inline_data, 64u);
  }
}

TEST_F(QpTest, IsRefusedBeyondTheLimitsAndInPart) {
  ibv_device_attr limits{};
  ASSERT_EQ(ibv_query_device(context_, &limits), 0);
  const auto refused = [this](auto change) {
    ibv_qp_init_attr attr = init(IBV_QPT_RC);
    change(attr);
    errno = 0;
    EXPECT_EQ(ibv_create_qp(pd_, &attr), nullptr);
    return errno;
  };
  const auto most = static_cast<uint32_t>(limits.max_qp_wr);
  EXPECT_EQ(refused([=](auto& attr) { attr.cap.max_send_wr = most + 1; }), EINVAL);
  EXPECT_EQ(refused([](auto& attr) { attr.cap.max_recv_sge = 0xFFFF; }), EINVAL);
  EXPECT_EQ(refused([](auto& attr) { attr.send_cq = nullptr; }), EINVAL);
  EXPECT_EQ(refused([](auto& attr) { attr.recv_cq = nullptr; }), EINVAL);
  EXPECT_EQ(refused([](auto& attr) { attr.qp_type = IBV_QPT_RAW_PACKET; }), EOPNOTSUPP);
  EXPECT_EQ(refused([](auto& attr) { attr.qp_type = IBV_QPT_DRIVER; }), EOPNOTSUPP);
  EXPECT_EQ(refused([](auto& attr) { attr.qp_type = IBV_QPT_XRC_RECV; }), EINVAL) << "no domain";
}

TEST_F(QpTest, IsExtendedByWhatASoftwareDeviceCanHave) {
  ibv_qp_init_attr_ex attr =
      extended(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS);
  attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
  EXPECT_EQ(make_ex(attr), 0);
  attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
  EXPECT_EQ(make_ex(attr), EOPNOTSUPP);
  EXPECT_EQ(make_ex(extended(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER)),
            EOPNOTSUPP);
  EXPECT_EQ(make_ex(extended(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH)),
            EOPNOTSUPP);
  EXPECT_EQ(make_ex(extended(IBV_QPT_UD, IBV_QP_INIT_ATTR_CREATE_FLAGS)), EINVAL) << "no domain";
}

TEST_F(QpTest, KeepsItsDomainAndItsQueue) {
  make(IBV_QPT_UD);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
}

TEST_F(QpTest, IsNotForBuildingRequestsUnlessMadeSo) {
  EXPECT_EQ(ibv_qp_to_qp_ex(make(IBV_QPT_RC)), nullptr);
}

// QP-10 … QP-12: the rules are the device's; their results are positive here.
TEST_F(QpTest, MovesByTheRules) {
  ibv_qp* const qp = make(IBV_QPT_RC);
  EXPECT_EQ(modify(qp, IBV_QPS_RTS), EINVAL);
  EXPECT_EQ(modify(qp, IBV_QPS_INIT), EINVAL) << "attributes are missing";
  EXPECT_EQ(qp->state, IBV_QPS_RESET);
  bring_to(qp, IBV_QPS_RTS, qp->qp_num);
  EXPECT_EQ(qp->state, IBV_QPS_RTS);
  EXPECT_EQ(modify(qp, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_CAP), EINVAL);
  EXPECT_EQ(modify(qp, IBV_QPS_RTS, IBV_QP_RATE_LIMIT), EOPNOTSUPP);
  EXPECT_EQ(modify(qp, static_cast<ibv_qp_state>(7)), EINVAL);
  EXPECT_EQ(modify(qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
  EXPECT_EQ(query(qp).qp_state, IBV_QPS_ERR);
  EXPECT_EQ(modify(qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(qp->state, IBV_QPS_RESET);
}

TEST_F(QpTest, IsQueriedAsItWasModified) {
  ibv_qp* const qp = make(IBV_QPT_RC);
  bring_to(qp, IBV_QPS_RTS, 0x77);
  const ibv_qp_attr now = query(qp);
  EXPECT_EQ(now.dest_qp_num, 0x77u);
  EXPECT_EQ(now.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(now.rq_psn, 100u);
  EXPECT_EQ(now.sq_psn, 100u);
  EXPECT_EQ(now.timeout, 10);
  EXPECT_EQ(now.retry_cnt, 3);
  EXPECT_EQ(now.rnr_retry, 3);
  EXPECT_EQ(now.min_rnr_timer, 1);
  EXPECT_EQ(now.max_rd_atomic, 4);
  EXPECT_EQ(now.max_dest_rd_atomic, 4);
  EXPECT_EQ(now.port_num, 1);
  EXPECT_EQ(now.ah_attr.is_global, 1);
  EXPECT_EQ(to_gid(now.ah_attr.grh.dgid), device::kTestIpv4);
  EXPECT_EQ(now.qp_access_flags, unsigned{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                          IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC});
}

// Programs give the rights of their memory, all of them.
TEST_F(QpTest, TakesRightsThatMeanSomethingOnlyForMemory) {
  ibv_qp* const qp = make(IBV_QPT_RC);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB |
                         IBV_ACCESS_RELAXED_ORDERING;
  constexpr int kMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  EXPECT_EQ(ibv_modify_qp(qp, &attr, kMask), 0);
  EXPECT_EQ(query(qp).qp_access_flags, unsigned{IBV_ACCESS_REMOTE_WRITE});
  attr.qp_access_flags = 1 << 15;
  EXPECT_EQ(ibv_modify_qp(qp, &attr, kMask), EINVAL);
}

TEST_F(QpTest, OfAParentDomainIsOfItsDomain) {
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_;
  ibv_pd* const parent = ibv_alloc_parent_domain(context_, &attr);
  ibv_qp_init_attr wanted = init(IBV_QPT_RC);
  ibv_qp* const qp = ibv_create_qp(parent, &wanted);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(of(qp).handle.pd, of(pd_).object);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
}

TEST_F(QpTest, TellsItsEventsInTheContext) {
  ibv_qp* const qp = make(IBV_QPT_RC);
  dispatch_event({.type = transport::EventType::kCommEst, .object = &of(qp)});
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_COMM_EST);
  EXPECT_EQ(event.element.qp, qp);
  ibv_ack_async_event(&event);
}

TEST_F(QpTest, CannotEndWhereTheDeviceIsOutOfReach) {
  ibv_qp* const qp = make(IBV_QPT_RC);
  runtime_.error = -EIO;
  EXPECT_EQ(ibv_destroy_qp(qp), EIO);
  EXPECT_EQ(modify(qp, IBV_QPS_ERR), EIO);
  runtime_.error = 0;
}

}  // namespace
}  // namespace uroce::ibverbs
