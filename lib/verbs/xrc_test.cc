// SPDX-License-Identifier: BSD-3-Clause
// Tests of XRC through the native face: a connection to several queues, sharing a target, the order
// in which things may go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class XrcTest : public FaceTest {
 protected:
  XrcTest() {
    xrcd_ = ib_alloc_xrcd(ibdev_);
    EXPECT_FALSE(IS_ERR(xrcd_));
  }
  ~XrcTest() override {
    for (ib_qp* qp : qps_) EXPECT_EQ(ib_destroy_qp(qp), 0);
    qps_.clear();
    for (ib_srq* srq : srqs_) EXPECT_EQ(ib_destroy_srq(srq), 0);
    EXPECT_EQ(ib_dealloc_xrcd(xrcd_), 0);
  }

  ib_srq* make_srq(ib_pd* pd, ib_cq* cq, ib_xrcd* xrcd) {
    ib_srq_init_attr init{};
    init.srq_type = IB_SRQT_XRC;
    init.attr = {.max_wr = 8, .max_sge = 2, .srq_limit = 0};
    init.ext.cq = cq;
    init.ext.xrc.xrcd = xrcd;
    ib_srq* srq = ib_create_srq(pd, &init);
    if (!IS_ERR(srq)) srqs_.push_back(srq);
    return srq;
  }
  ib_srq* make_srq() { return make_srq(pd_, cq_, xrcd_); }
  ib_qp_init_attr target_init() {
    ib_qp_init_attr attr{};
    attr.qp_type = IB_QPT_XRC_TGT;
    attr.xrcd = xrcd_;
    attr.event_handler = &XrcTest::on_qp_event;
    attr.qp_context = this;
    return attr;
  }
  ib_qp* make_target() {
    ib_qp_init_attr attr = target_init();
    ib_qp* qp = ib_create_qp(nullptr, &attr);
    EXPECT_FALSE(IS_ERR(qp)) << PTR_ERR(qp);
    qps_.push_back(qp);
    return qp;
  }
  ib_qp* open(__u32 qp_num, ib_qp_type type = IB_QPT_XRC_TGT) {
    ib_qp_open_attr attr{.event_handler = &XrcTest::on_qp_event,
                         .qp_context = this,
                         .qp_num = qp_num,
                         .qp_type = type};
    return ib_open_qp(xrcd_, &attr);
  }
  static void on_qp_event(ib_event* event, void* self) {
    static_cast<XrcTest*>(self)->qp_events_.push_back({event->element.qp, event->event});
  }
  // Either end to RTS, with the masks of its type.
  void bring_up(ib_qp* qp, const ib_qp* peer) {
    const bool target = qp->qp_type == IB_QPT_XRC_TGT;
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_LOCAL_WRITE;
    ASSERT_EQ(ib_modify_qp(qp, &attr, 0x39), 0);
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = IB_MTU_1024;
    attr.dest_qp_num = peer->qp_num;
    attr.rq_psn = attr.sq_psn = 100;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 1;
    attr.ah_attr = to(device::kTestIpv4);
    ASSERT_EQ(ib_modify_qp(qp, &attr, target ? 0x129181 : 0x101181), 0);
    attr.qp_state = IB_QPS_RTS;
    attr.timeout = 10;
    attr.retry_cnt = attr.rnr_retry = 3;
    attr.max_rd_atomic = 4;
    ASSERT_EQ(ib_modify_qp(qp, &attr, target ? 0x10201 : 0x12e01), 0);
  }
  void connect() {
    initiator_ = make(IB_QPT_XRC_INI);
    target_ = make_target();
    bring_up(initiator_, target_);
    bring_up(target_, initiator_);
  }
  int post_srq(ib_srq* srq, __u64 id, size_t offset) {
    ib_sge sge = piece(memory_.data() + offset, 1024);
    sge.lkey = srq->pd->local_dma_lkey;
    ib_recv_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    return ib_post_srq_recv(srq, &wr, nullptr);
  }
  int send_to(__u32 srqn, __u32 length, __u64 id, ib_wr_opcode opcode = IB_WR_SEND,
              const ib_mr* mr = nullptr) {
    ib_sge sge = piece(memory_.data(), length);
    ib_xrc_wr wr{};
    wr.wr.wr_id = id;
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = opcode;
    wr.wr.send_flags = IB_SEND_SIGNALED;
    wr.wr.ex.imm_data = 0x01020304;
    if (mr != nullptr) {
      wr.rdma.remote_addr = reinterpret_cast<__u64>(memory_.data() + 6144);
      wr.rdma.rkey = mr->rkey;
    }
    wr.remote_srqn = srqn;
    return ib_post_send(initiator_, &wr.wr, nullptr);
  }
  std::vector<__u64> ids(const std::vector<ib_wc>& entries) {
    std::vector<__u64> out;
    for (const ib_wc& wc : entries) {
      EXPECT_EQ(wc.status, IB_WC_SUCCESS);
      out.push_back(wc.wr_id);
    }
    return out;
  }

  // What the fixture's CQ has; receives and sends come in either order.
  std::vector<__u64> sorted_ids() {
    std::vector<__u64> got = ids(poll());
    std::sort(got.begin(), got.end());
    return got;
  }

  ib_xrcd* xrcd_ = nullptr;
  std::vector<ib_srq*> srqs_;
  std::vector<std::pair<ib_qp*, ib_event_type>> qp_events_;
  ib_qp* initiator_ = nullptr;
  ib_qp* target_ = nullptr;
};

TEST_F(XrcTest, MessagesOfOneConnectionArriveInTheQueuesThatTheyName) {
  connect();
  const ib_cq_init_attr cq_attr{.cqe = 16, .comp_vector = 0, .flags = 0};
  ib_cq* other_cq = ib_create_cq(ibdev_, nullptr, nullptr, nullptr, &cq_attr);
  ib_srq* one = make_srq();
  ib_srq* two = make_srq(pd_, other_cq, xrcd_);
  EXPECT_NE(one->ext.xrc.srq_num, two->ext.xrc.srq_num);
  std::iota(memory_.begin(), memory_.begin() + 1024, uint8_t{3});
  ASSERT_EQ(post_srq(one, 1, 2048), 0);
  ASSERT_EQ(post_srq(two, 2, 4096), 0);
  ASSERT_EQ(send_to(one->ext.xrc.srq_num, 600, 11, IB_WR_SEND_WITH_IMM), 0);
  ASSERT_EQ(send_to(two->ext.xrc.srq_num, 700, 10), 0);
  bed_.settle();
  ib_wc wc[4];
  ASSERT_EQ(ib_poll_cq(other_cq, 4, wc), 1);
  EXPECT_EQ(wc[0].wr_id, 2u);
  EXPECT_EQ(wc[0].byte_len, 700u);
  EXPECT_EQ(wc[0].qp, target_->real_qp);
  EXPECT_EQ(wc[0].qp->qp_num, target_->qp_num);
  EXPECT_EQ(sorted_ids(), (std::vector<__u64>{1, 10, 11}));
  EXPECT_EQ(std::memcmp(memory_.data() + 4096, memory_.data(), 700), 0);
  EXPECT_EQ(std::memcmp(memory_.data() + 2048, memory_.data(), 600), 0);
  EXPECT_EQ(ib_destroy_cq(other_cq), -EBUSY) << "the queue completes there";
  ASSERT_EQ(ib_destroy_srq(two), 0);
  std::erase(srqs_, two);
  EXPECT_EQ(ib_destroy_cq(other_cq), 0);

  // The target, which had it last, has forgotten both.
  ASSERT_EQ(post_srq(one, 3, 2048), 0);
  ASSERT_EQ(send_to(one->ext.xrc.srq_num, 100, 12), 0);
  bed_.settle();
  EXPECT_EQ(sorted_ids(), (std::vector<__u64>{3, 12}));
}

TEST_F(XrcTest, WritesAndReadsAreOfTheNamedQueuesProtectionDomain) {
  connect();
  ib_pd* other_pd = ib_alloc_pd(ibdev_, 0);
  ib_srq* srq = make_srq();
  ib_srq* foreign = make_srq(other_pd, cq_, xrcd_);
  ib_mr* mr =
      ib_reg_user_mr(pd_, reinterpret_cast<__u64>(memory_.data() + 6144), 1024,
                     reinterpret_cast<__u64>(memory_.data() + 6144),
                     IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
  ASSERT_FALSE(IS_ERR(mr));
  memory_[0] = 42;
  ASSERT_EQ(send_to(srq->ext.xrc.srq_num, 8, 20, IB_WR_RDMA_WRITE, mr), 0);
  bed_.settle();
  EXPECT_EQ(ids(poll()), std::vector<__u64>{20});
  EXPECT_EQ(memory_[6144], 42);
  memory_[0] = 0;
  ASSERT_EQ(send_to(srq->ext.xrc.srq_num, 8, 21, IB_WR_RDMA_READ, mr), 0);
  bed_.settle();
  EXPECT_EQ(ids(poll()), std::vector<__u64>{21});
  EXPECT_EQ(memory_[0], 42);
  ASSERT_EQ(send_to(foreign->ext.xrc.srq_num, 8, 22, IB_WR_RDMA_WRITE, mr), 0);
  const std::vector<ib_wc> entries = settle_and_poll();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].status, IB_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ib_dereg_mr(mr), 0);
  ASSERT_EQ(ib_destroy_srq(foreign), 0);
  std::erase(srqs_, foreign);
  EXPECT_EQ(ib_dealloc_pd(other_pd), 0);
}

TEST_F(XrcTest, AQueueThatIsNotThereIsAnInvalidRequest) {
  connect();
  ib_srq* srq = make_srq();
  const __u32 number = srq->ext.xrc.srq_num;
  ASSERT_EQ(post_srq(srq, 1, 2048), 0);
  ASSERT_EQ(ib_destroy_srq(srq), 0);
  srqs_.clear();
  ASSERT_EQ(send_to(number, 8, 30), 0);
  const std::vector<ib_wc> entries = settle_and_poll();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].status, IB_WC_REM_INV_REQ_ERR);
}

// QP-33, QP-34
TEST_F(XrcTest, ATargetIsSharedByItsHandles) {
  connect();
  EXPECT_EQ(PTR_ERR(open(target_->qp_num, IB_QPT_RC)), -EINVAL);
  EXPECT_EQ(PTR_ERR(open(initiator_->qp_num)), -EINVAL);
  EXPECT_EQ(PTR_ERR(open(target_->qp_num ^ 1)), -EINVAL);
  ib_qp* second = open(target_->qp_num);
  ASSERT_FALSE(IS_ERR(second));
  EXPECT_EQ(second->qp_num, target_->qp_num);
  EXPECT_EQ(second->real_qp, target_->real_qp);
  EXPECT_EQ(second->xrcd, xrcd_);

  // Each may change it, and each hears of it.
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_ERR;
  ASSERT_EQ(ib_modify_qp(second, &attr, IB_QP_STATE), 0);
  ib_qp_init_attr init{};
  ASSERT_EQ(ib_query_qp(target_, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IB_QPS_ERR);
  EXPECT_EQ(init.xrcd, xrcd_);
  bed_.settle();
  ASSERT_EQ(qp_events_.size(), 2u);
  EXPECT_EQ(qp_events_[0], (std::pair{target_, IB_EVENT_QP_LAST_WQE_REACHED}));
  EXPECT_EQ(qp_events_[1], (std::pair{second, IB_EVENT_QP_LAST_WQE_REACHED}));

  // It goes with the last handle, whichever that is.
  EXPECT_EQ(ib_close_qp(initiator_), -EINVAL);
  const __u32 number = target_->qp_num;
  EXPECT_EQ(ib_destroy_qp(target_), 0);
  forget(target_);
  EXPECT_EQ(ib_query_qp(second, &attr, 0, &init), 0);
  EXPECT_EQ(ib_dealloc_xrcd(xrcd_), -EBUSY);
  EXPECT_EQ(ib_close_qp(second), 0);
  EXPECT_EQ(PTR_ERR(open(number)), -EINVAL);
}

TEST_F(XrcTest, CompletionsOfATargetThatWentAreTakenBack) {
  connect();
  ib_srq* srq = make_srq();
  ASSERT_EQ(post_srq(srq, 1, 2048), 0);
  ASSERT_EQ(send_to(srq->ext.xrc.srq_num, 8, 30), 0);
  bed_.settle();
  EXPECT_EQ(ib_destroy_qp(target_), 0);
  forget(target_);
  EXPECT_EQ(ids(poll()), std::vector<__u64>{30}) << "the initiator's, which is still there";
}

TEST_F(XrcTest, ReceivesArePostedToTheSharedQueueOnlyAndTargetsSendNothing) {
  connect();
  EXPECT_EQ(FaceTest::post_recv(initiator_, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(FaceTest::post_recv(target_, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(FaceTest::post_send(target_, memory_.data(), 8, 1), -EINVAL);
  EXPECT_EQ(ib_post_send(target_, nullptr, nullptr), 0);
}

TEST_F(XrcTest, WhatIsMissingAtCreationIsRefused) {
  ib_qp_init_attr attr = target_init();
  attr.xrcd = nullptr;
  EXPECT_EQ(PTR_ERR(ib_create_qp(pd_, &attr)), -EINVAL);
  attr = init(IB_QPT_RC);
  attr.xrcd = xrcd_;
  EXPECT_EQ(PTR_ERR(ib_create_qp(pd_, &attr)), -EINVAL);
  attr = init(IB_QPT_XRC_INI);
  attr.send_cq = nullptr;
  EXPECT_EQ(PTR_ERR(ib_create_qp(pd_, &attr)), -EINVAL);
  EXPECT_EQ(PTR_ERR(make_srq(pd_, nullptr, xrcd_)), -EINVAL);
  EXPECT_EQ(PTR_ERR(make_srq(pd_, cq_, nullptr)), -EINVAL);
  EXPECT_NE(ibdev_->attrs.device_cap_flags & IB_DEVICE_XRC, 0u);
}

}  // namespace
}  // namespace uroce::verbs
