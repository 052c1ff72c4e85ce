// SPDX-License-Identifier: BSD-3-Clause
// Tests of completion queues of the native face: creation, notification, callbacks.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class CqTest : public FaceTest {
 protected:
  long error_of(ib_cq_init_attr attr) {
    ib_cq* cq = ib_create_cq(ibdev_, nullptr, nullptr, nullptr, &attr);
    if (IS_ERR(cq)) return PTR_ERR(cq);
    EXPECT_GE(cq->cqe, static_cast<int>(attr.cqe));
    return ib_destroy_cq(cq);
  }
  // One message from a to b, with or without the solicited bit; the sender's side is unsignaled.
  void message(ib_qp* a, ib_qp* b, int flags = 0) {
    ASSERT_EQ(post_recv(b, memory_.data() + 4096, 64, 1), 0);
    ASSERT_EQ(post_send(a, memory_.data(), 8, 2, flags), 0);
    bed_.settle();
  }
};

// CQ-01 of ib_create_cq.
TEST_F(CqTest, CreationChecks) {
  EXPECT_EQ(error_of({.cqe = 1, .comp_vector = 0, .flags = 0}), 0);
  EXPECT_EQ(error_of({.cqe = 0, .comp_vector = 0, .flags = 0}), -EINVAL);
  EXPECT_EQ(
      error_of(
          {.cqe = static_cast<unsigned>(ibdev_->attrs.max_cqe) + 1, .comp_vector = 0, .flags = 0}),
      -EINVAL);
  EXPECT_EQ(error_of({.cqe = 1, .comp_vector = 1, .flags = 0}), -EINVAL);
  EXPECT_EQ(error_of({.cqe = 1, .comp_vector = 0, .flags = 1}), -EINVAL);
}

// CQ-01, CQ-02.
TEST_F(CqTest, AllocationChecks) {
  EXPECT_EQ(PTR_ERR(ib_alloc_cq(ibdev_, nullptr, 0, 0, IB_POLL_DIRECT)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_cq(ibdev_, nullptr, -1, 0, IB_POLL_DIRECT)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_cq(ibdev_, nullptr, 8, -1, IB_POLL_DIRECT)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_cq_any(ibdev_, nullptr, 0, IB_POLL_DIRECT)), -EINVAL);
  EXPECT_EQ(PTR_ERR(ib_alloc_cq_any(ibdev_, nullptr, -1, IB_POLL_SOFTIRQ)), -EINVAL);
  const int most = ibdev_->attrs.max_cqe;
  EXPECT_EQ(PTR_ERR(ib_alloc_cq_any(ibdev_, nullptr, most + 1, IB_POLL_DIRECT)), -EINVAL);
  for (const int none : {4, -1}) {
    const auto context = static_cast<ib_poll_context>(none);
    EXPECT_EQ(PTR_ERR(ib_alloc_cq_any(ibdev_, nullptr, 8, context)), -EINVAL) << none;
  }
  ib_cq* cq = ib_alloc_cq(ibdev_, this, 8, 0, IB_POLL_DIRECT);
  ASSERT_FALSE(IS_ERR(cq));
  EXPECT_EQ(cq->cq_context, this);
  EXPECT_EQ(cq->poll_ctx, IB_POLL_DIRECT);
  EXPECT_EQ(ib_process_cq_direct(cq, -1), 0);
  ib_free_cq(cq);
}

TEST_F(CqTest, ExactlyOneKindOfNotificationCanBeAskedFor) {
  EXPECT_EQ(ib_req_notify_cq(cq_, static_cast<ib_cq_notify_flags>(0)), -EINVAL);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_SOLICITED_MASK), -EINVAL);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_REPORT_MISSED_EVENTS), -EINVAL);
}

// CQ-12.
TEST_F(CqTest, NextCompletionIsOneEventForEachArming) {
  const auto [a, b] = connected();
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  message(a, b);
  message(a, b);
  EXPECT_EQ(completion_events_, 1);
  EXPECT_EQ(poll().size(), 2u);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  message(a, b);
  EXPECT_EQ(completion_events_, 2);
}

// CQ-13, CQ-16.
TEST_F(CqTest, SolicitedWaitsForASolicitedMessageUnlessWidened) {
  const auto [a, b] = connected();
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_SOLICITED), 0);
  message(a, b);
  EXPECT_EQ(completion_events_, 0);
  message(a, b, IB_SEND_SOLICITED);
  EXPECT_EQ(completion_events_, 1);
  poll();
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_SOLICITED), 0);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_SOLICITED), 0) << "never narrows";
  message(a, b);
  EXPECT_EQ(completion_events_, 2);
}

// CQ-14, CQ-15.
TEST_F(CqTest, CompletionsThatAreThereAlreadyAreReportedOnlyWhenAsked) {
  const auto missed = static_cast<ib_cq_notify_flags>(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
  EXPECT_EQ(ib_req_notify_cq(cq_, missed), 0);
  const auto [a, b] = connected();
  message(a, b);
  EXPECT_EQ(completion_events_, 1);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  EXPECT_EQ(completion_events_, 1);
  EXPECT_EQ(ib_req_notify_cq(cq_, missed), 1);
}

// CQ-17.
TEST_F(CqTest, AnErrorCompletionIsAlwaysSolicited) {
  const auto [a, b] = connected();
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_SOLICITED), 0);
  ASSERT_EQ(post_recv(a, memory_.data(), 64, 1), 0);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_ERR;
  ASSERT_EQ(ib_modify_qp(a, &attr, IB_QP_STATE), 0);
  bed_.settle();
  EXPECT_EQ(completion_events_, 1);
  (void)b;
}

struct Callback : ib_cqe {
  int calls = 0;
  ib_wc_status last = IB_WC_GENERAL_ERR;
};

TEST_F(CqTest, DirectProcessingCallsEachRequestsOwnFunction) {
  ib_cq* cq = ib_alloc_cq(ibdev_, nullptr, 32, 0, IB_POLL_DIRECT);
  ASSERT_FALSE(IS_ERR(cq));
  ib_qp* qp = make_sender(cq);
  Callback callback;
  callback.done = [](ib_cq*, ib_wc* wc) {
    auto& self = *static_cast<Callback*>(wc->wr_cqe);
    ++self.calls;
    self.last = wc->status;
  };
  ib_ah* ah = handle_to(device::kTestIpv4);
  for (int i = 0; i < 3; ++i) {
    ib_sge sge = piece(memory_.data(), 8);
    ib_ud_wr wr{};
    wr.wr.wr_cqe = &callback;
    wr.wr.sg_list = &sge;
    wr.wr.num_sge = 1;
    wr.wr.opcode = IB_WR_SEND;
    wr.wr.send_flags = IB_SEND_SIGNALED;
    wr.ah = ah;
    wr.remote_qpn = 0x77;
    ASSERT_EQ(ib_post_send(qp, &wr.wr, nullptr), 0);
  }
  bed_.settle();
  EXPECT_EQ(ib_process_cq_direct(cq, 2), 2);
  EXPECT_EQ(callback.calls, 2);
  EXPECT_EQ(ib_process_cq_direct(cq, -1), 1);
  EXPECT_EQ(callback.calls, 3);
  EXPECT_EQ(callback.last, IB_WC_SUCCESS);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  ib_free_cq(cq);
}

// A queue that the library polls calls `done` by itself, again and again.
TEST_F(CqTest, OtherContextsAreServedWhereHandlersRun) {
  for (const auto context : {IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE, IB_POLL_UNBOUND_WORKQUEUE}) {
    ib_cq* cq = ib_alloc_cq_any(ibdev_, this, 32, context);
    ASSERT_FALSE(IS_ERR(cq));
    EXPECT_EQ(cq->poll_ctx, context);
    EXPECT_EQ(cq->cq_context, this);
    ib_qp* qp = make_sender(cq);
    Callback callback;
    callback.done = [](ib_cq*, ib_wc* wc) { ++static_cast<Callback*>(wc->wr_cqe)->calls; };
    ib_ah* ah = handle_to(device::kTestIpv4);
    for (int i = 1; i <= 3; ++i) {
      ASSERT_EQ(post_datagram(qp, ah, 0x77, memory_.data(), 8,
                              reinterpret_cast<__u64>(static_cast<ib_cqe*>(&callback))),
                0);
      bed_.settle();
      EXPECT_EQ(callback.calls, i);
    }
    EXPECT_EQ(ib_destroy_qp(qp), 0);
    ib_free_cq(cq);
  }
}

// CQ-03, CQ-04.
TEST(CqVectors, AreTakenByTurns) {
  for (const uint32_t engines : {4u, 1u}) {
    device::TestBed bed({.engines = engines});
    ib_device* device = open_device(bed.device());
    ASSERT_EQ(bed.device().start(), 0);
    ASSERT_EQ(device->num_comp_vectors, static_cast<int>(engines));
    std::vector<unsigned> taken(engines);
    for (int i = 0; i < 8; ++i) {
      ib_cq* cq = ib_alloc_cq_any(device, nullptr, 8, IB_POLL_DIRECT);
      ASSERT_FALSE(IS_ERR(cq));
      ++taken.at(cq->comp_vector);
      ib_free_cq(cq);
    }
    EXPECT_EQ(taken, std::vector<unsigned>(engines, 8 / engines));
    close_device(device);
  }
}

// CQ-07, UD-01, UD-02.
TEST_F(CqTest, StaysWhileAQueuePairUsesIt) {
  const ib_cq_init_attr small{.cqe = 4, .comp_vector = 0, .flags = 0};
  ib_cq* cq = ib_create_cq(ibdev_, nullptr, nullptr, nullptr, &small);
  ib_qp* qp = make_sender(cq);
  ib_udata udata{};
  EXPECT_EQ(ib_destroy_cq(cq), -EBUSY);
  EXPECT_EQ(ib_destroy_cq_user(cq, nullptr), -EBUSY);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  udata.inlen = 4;
  EXPECT_EQ(ib_destroy_cq_user(cq, &udata), -EINVAL);
  udata.inlen = 0;
  EXPECT_EQ(ib_destroy_cq_user(cq, &udata), 0);
}

// CQ-11: nothing is lost in silence, the oldest entries stay.
TEST_F(CqTest, AnOverflowIsAnErrorEventOnce) {
  const ib_cq_init_attr small{.cqe = 2, .comp_vector = 0, .flags = 0};
  ib_cq* cq = ib_create_cq(ibdev_, nullptr, &FaceTest::on_cq_event, this, &small);
  ASSERT_FALSE(IS_ERR(cq));
  ib_qp* qp = make_sender(cq);
  ib_ah* ah = handle_to(device::kTestIpv4);
  for (__u64 i = 0; i < 4; ++i) {
    ASSERT_EQ(post_datagram(qp, ah, 0x77, memory_.data(), 8, i), 0);
  }
  bed_.settle();
  EXPECT_EQ(cq_events_, std::vector{IB_EVENT_CQ_ERR});
  ib_wc wc[4];
  ASSERT_EQ(ib_poll_cq(cq, 4, wc), 2);
  EXPECT_EQ(wc[0].wr_id, 0u);
  EXPECT_EQ(wc[1].wr_id, 1u);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  EXPECT_EQ(ib_destroy_cq(cq), 0);
}

// The queue pair whose completion found no room is told, too.
TEST_F(CqTest, AQueuePairThatOverflowsItsQueueFailsAndSaysSo) {
  const ib_cq_init_attr small{.cqe = 1, .comp_vector = 0, .flags = 0};
  ib_cq* cq = ib_create_cq(ibdev_, nullptr, nullptr, nullptr, &small);
  ASSERT_FALSE(IS_ERR(cq));
  std::vector<ib_event_type> events;
  ib_qp_init_attr attr = init(IB_QPT_UD);
  attr.send_cq = cq;
  attr.event_handler = [](ib_event* event, void* to) {
    static_cast<std::vector<ib_event_type>*>(to)->push_back(event->event);
  };
  attr.qp_context = &events;
  ib_qp* qp = ib_create_qp(pd_, &attr);
  ASSERT_FALSE(IS_ERR(qp));
  bring_to(qp, IB_QPS_RTS);
  ib_ah* ah = handle_to(device::kTestIpv4);
  for (__u64 i = 0; i < 2; ++i) {
    ASSERT_EQ(post_datagram(qp, ah, 0x77, memory_.data(), 8, i), 0);
  }
  bed_.settle();
  EXPECT_EQ(events, std::vector{IB_EVENT_QP_FATAL});
  ib_qp_attr now{};
  ib_qp_init_attr made{};
  ASSERT_EQ(ib_query_qp(qp, &now, 0, &made), 0);
  EXPECT_EQ(now.qp_state, IB_QPS_ERR);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  EXPECT_EQ(ib_destroy_cq(cq), 0);
}

TEST_F(CqTest, ResizingKeepsWhatWaits) {
  const auto [a, b] = connected();
  for (int i = 0; i < 3; ++i) message(a, b);
  EXPECT_EQ(ib_resize_cq(cq_, 2), -EINVAL);
  EXPECT_EQ(ib_resize_cq(cq_, 0), -EINVAL);
  EXPECT_EQ(ib_resize_cq(cq_, ibdev_->attrs.max_cqe + 1), -EINVAL);
  EXPECT_EQ(cq_->cqe, 64);
  EXPECT_EQ(ib_resize_cq(cq_, 3), 0);
  EXPECT_EQ(cq_->cqe, 3);
  EXPECT_EQ(poll().size(), 3u);
  EXPECT_EQ(ib_resize_cq(cq_, 500), 0);
  for (int i = 0; i < 8; ++i) message(a, b);
  EXPECT_EQ(poll().size(), 8u);
}

// CQ-06: three of four wait for the period; the engine's clock ends it.
TEST_F(CqTest, ModerationHoldsTheEventBackForAtMostThePeriod) {
  const auto [a, b] = connected();
  EXPECT_EQ(rdma_set_cq_moderation(cq_, 4, 60'000), 0);
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  for (int i = 0; i < 3; ++i) message(a, b);
  EXPECT_EQ(completion_events_, 0);
  bed_.pass(std::chrono::milliseconds(60));
  bed_.settle();
  EXPECT_EQ(completion_events_, 1);
  poll();
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  for (int i = 0; i < 4; ++i) message(a, b);
  EXPECT_EQ(completion_events_, 2);
  EXPECT_EQ(rdma_set_cq_moderation(cq_, 0, 0), 0);
  poll();
  EXPECT_EQ(ib_req_notify_cq(cq_, IB_CQ_NEXT_COMP), 0);
  message(a, b);
  EXPECT_EQ(completion_events_, 3);
}

}  // namespace
}  // namespace uroce::verbs
