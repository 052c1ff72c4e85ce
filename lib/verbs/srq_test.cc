// SPDX-License-Identifier: BSD-3-Clause
// Tests of shared receive queues of the native face: posting, completions, events, the end.
#include <gtest/gtest.h>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class SrqTest : public FaceTest {
 protected:
  SrqTest() { srq_ = make_srq({.max_wr = 8, .max_sge = 4, .srq_limit = 0}); }
  ~SrqTest() override {
    for (ib_qp* qp : qps_) EXPECT_EQ(ib_destroy_qp(qp), 0);
    qps_.clear();
    EXPECT_EQ(ib_destroy_srq(srq_), 0);
  }

  ib_srq* make_srq(const ib_srq_attr& attr) {
    ib_srq_init_attr init{};
    init.event_handler = &SrqTest::on_srq_event;
    init.srq_context = this;
    init.attr = attr;
    ib_srq* srq = ib_create_srq(pd_, &init);
    EXPECT_FALSE(IS_ERR(srq)) << PTR_ERR(srq);
    return srq;
  }
  ib_qp* make_receiver() {
    ib_qp_init_attr attr = init(IB_QPT_RC);
    attr.event_handler = &SrqTest::on_qp_event;
    attr.qp_context = this;
    attr.srq = srq_;
    attr.cap.max_recv_sge = 1;  // case 50: neither is looked at
    attr.cap.max_recv_wr = 1'000'000;
    ib_qp* qp = ib_create_qp(pd_, &attr);
    EXPECT_FALSE(IS_ERR(qp)) << PTR_ERR(qp);
    qps_.push_back(qp);
    return qp;
  }
  // A sender and a receiver that has the shared queue.
  std::pair<ib_qp*, ib_qp*> to_shared() {
    ib_qp* a = make(IB_QPT_RC);
    ib_qp* b = make_receiver();
    bring_to(a, IB_QPS_RTS, b);
    bring_to(b, IB_QPS_RTS, a);
    return {a, b};
  }
  int post(__u64 id, std::vector<ib_sge> list) {
    ib_recv_wr wr{};
    wr.wr_id = id;
    wr.sg_list = list.data();
    wr.num_sge = static_cast<int>(list.size());
    return ib_post_srq_recv(srq_, &wr, nullptr);
  }
  int post(__u64 id) { return post(id, {piece(memory_.data() + 4096, 1024)}); }
  static void on_srq_event(ib_event* event, void* self) {
    auto& test = *static_cast<SrqTest*>(self);
    EXPECT_EQ(event->element.srq, test.srq_);
    test.srq_events_.push_back(event->event);
  }
  static void on_qp_event(ib_event* event, void* self) {
    static_cast<SrqTest*>(self)->qp_events_.push_back(event->event);
  }

  ib_srq* srq_ = nullptr;
  std::vector<ib_event_type> srq_events_;
  std::vector<ib_event_type> qp_events_;
};

// SR-06
TEST_F(SrqTest, QueryGivesWhatWasGranted) {
  ib_srq* srq = make_srq({.max_wr = 100, .max_sge = 4, .srq_limit = 0});
  ib_srq_attr attr{};
  EXPECT_EQ(ib_query_srq(srq, &attr), 0);
  EXPECT_GE(attr.max_wr, 100u);
  EXPECT_GE(attr.max_sge, 4u);
  EXPECT_EQ(attr.srq_limit, 0u);
  EXPECT_EQ(ib_destroy_srq(srq), 0);
}

TEST_F(SrqTest, OnlyTheBasicTypeAndBothAttributesAtOnce) {
  ib_srq_init_attr init{};
  init.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
  init.srq_type = IB_SRQT_TM;
  EXPECT_EQ(PTR_ERR(ib_create_srq(pd_, &init)), -EOPNOTSUPP);
  ib_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 1};
  EXPECT_EQ(ib_modify_srq(srq_, &attr, static_cast<ib_srq_attr_mask>(3)), 0);
  EXPECT_EQ(ib_query_srq(srq_, &attr), 0);
  EXPECT_EQ(attr.max_wr, 4u);
  EXPECT_EQ(attr.max_sge, 4u);
  EXPECT_EQ(attr.srq_limit, 1u);
}

// SR-08
TEST_F(SrqTest, StaysWhileAQueuePairUsesItAndTakesItsWorkAlong) {
  ib_srq* srq = srq_;
  ib_qp* qp = make_receiver();
  EXPECT_EQ(post(1), 0);
  EXPECT_EQ(ib_destroy_srq(srq), -EBUSY);
  forget(qp);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  EXPECT_EQ(ib_destroy_srq(srq), 0);
  EXPECT_TRUE(settle_and_poll().empty());
  srq_ = make_srq({.max_wr = 8, .max_sge = 4, .srq_limit = 0});
}

// SR-10, SR-11, SR-12, SR-13
TEST_F(SrqTest, PostingStopsAtTheFirstRequestThatIsRefused) {
  ib_sge sge = piece(memory_.data(), 8);
  ib_recv_wr chain[3] = {};
  for (int i = 0; i < 3; ++i) {
    chain[i].wr_id = static_cast<__u64>(i);
    chain[i].sg_list = &sge;
    chain[i].num_sge = 1;
    chain[i].next = i < 2 ? &chain[i + 1] : nullptr;
  }
  for (__u64 id = 10; id < 16; ++id) EXPECT_EQ(post(id), 0);
  const ib_recv_wr* bad = nullptr;
  EXPECT_EQ(ib_post_srq_recv(srq_, &chain[0], &bad), -ENOMEM);
  EXPECT_EQ(bad, &chain[2]);
  EXPECT_EQ(ib_post_srq_recv(srq_, &chain[2], nullptr), -ENOMEM);
  EXPECT_EQ(of(srq_).handle.poster.queued(), 8u);
  EXPECT_EQ(ib_post_srq_recv(srq_, nullptr, &bad), 0);
  chain[0].num_sge = 5;
  EXPECT_EQ(ib_post_srq_recv(srq_, &chain[0], &bad), -EINVAL);
  EXPECT_EQ(bad, &chain[0]);
}

// case 50, PR-02
TEST_F(SrqTest, QueuePairTakesFromTheSharedQueueOnly) {
  const auto [a, b] = to_shared();
  EXPECT_EQ(post_recv(b, memory_.data(), 8, 1), -EINVAL);
  for (size_t i = 0; i < 64; ++i) memory_[i] = static_cast<uint8_t>(i);
  ASSERT_EQ(post(5, {piece(&memory_[4096], 8), piece(&memory_[4200], 3), piece(&memory_[4300], 5),
                     piece(&memory_[4400], 48)}),
            0);
  ASSERT_EQ(post_send(a, memory_.data(), 64, 2, 0), 0);
  const std::vector<ib_wc> done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 5u);
  EXPECT_EQ(done[0].qp, b);
  EXPECT_EQ(done[0].byte_len, 64u);
  EXPECT_EQ(memory_[4096 + 7], 7);
  EXPECT_EQ(memory_[4200 + 2], 10);
  EXPECT_EQ(memory_[4300 + 4], 15);
  EXPECT_EQ(memory_[4400 + 47], 63);
  ib_qp_attr attr{};
  ib_qp_init_attr got{};
  EXPECT_EQ(ib_query_qp(b, &attr, 0, &got), 0);
  EXPECT_EQ(got.srq, srq_);
  EXPECT_EQ(attr.cap.max_recv_wr, 0u);
}

// SR-01, SR-02, SR-07
TEST_F(SrqTest, LimitEventReachesTheHandlerOnce) {
  const auto [a, b] = to_shared();
  for (__u64 id = 1; id <= 8; ++id) ASSERT_EQ(post(id), 0);
  ib_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = 4};
  ASSERT_EQ(ib_modify_srq(srq_, &attr, IB_SRQ_LIMIT), 0);
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(post_send(a, memory_.data(), 8, 0, 0), 0);
    bed_.settle();
    EXPECT_EQ(srq_events_.size(), i < 4 ? 0u : 1u) << i;
  }
  EXPECT_EQ(srq_events_.front(), IB_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(ib_query_srq(srq_, &attr), 0);
  EXPECT_EQ(attr.srq_limit, 0u);
  EXPECT_EQ(poll().size(), 8u);
}

// case 49
TEST_F(SrqTest, QueuePairThatFailsSaysThatNoMoreComes) {
  const auto [a, b] = to_shared();
  for (__u64 id = 1; id <= 3; ++id) ASSERT_EQ(post(id), 0);
  ASSERT_EQ(post_send(a, memory_.data(), 8, 0, 0), 0);
  EXPECT_EQ(settle_and_poll().size(), 1u);
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_ERR;
  ASSERT_EQ(ib_modify_qp(b, &attr, IB_QP_STATE), 0);
  EXPECT_TRUE(settle_and_poll().empty());
  EXPECT_EQ(qp_events_, std::vector{IB_EVENT_QP_LAST_WQE_REACHED});
  ASSERT_EQ(ib_modify_qp(b, &attr, IB_QP_STATE), 0);
  bed_.settle();
  EXPECT_EQ(qp_events_.size(), 1u);

  const auto [c, d] = to_shared();
  ASSERT_EQ(post_send(c, memory_.data(), 8, 0, 0), 0);
  const std::vector<ib_wc> done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 2u);
  EXPECT_EQ(done[0].qp, d);
}

TEST_F(SrqTest, ResizingKeepsWhatIsPosted) {
  const auto [a, b] = to_shared();
  for (__u64 id = 1; id <= 8; ++id) ASSERT_EQ(post(id), 0);
  EXPECT_EQ(post(9), -ENOMEM);
  ib_srq_attr attr{.max_wr = 4, .max_sge = 0, .srq_limit = 0};
  EXPECT_EQ(ib_modify_srq(srq_, &attr, IB_SRQ_MAX_WR), -EINVAL);
  attr.max_wr = 9;
  EXPECT_EQ(ib_modify_srq(srq_, &attr, IB_SRQ_MAX_WR), 0);
  EXPECT_EQ(post(9), 0);
  EXPECT_EQ(post(10), -ENOMEM);
  for (__u64 id = 1; id <= 9; ++id) {
    ASSERT_EQ(post_send(a, memory_.data(), 8, 0, 0), 0);
    const std::vector<ib_wc> done = settle_and_poll();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].wr_id, id);
  }
}

}  // namespace
}  // namespace uroce::verbs
