// SPDX-License-Identifier: BSD-3-Clause
// Tests of shared receive queues as objects.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

class SrqTest : public QueuesTest {
 protected:
  ibv_srq* create(uint32_t wr_max = 8, uint32_t sge_max = 4) {
    ibv_srq_init_attr attr{};
    attr.srq_context = this;
    attr.attr = {.max_wr = wr_max, .max_sge = sge_max, .srq_limit = 0};
    return ibv_create_srq(pd_, &attr);
  }
  ibv_srq_attr query(ibv_srq* srq) {
    ibv_srq_attr attr{};
    EXPECT_EQ(ibv_query_srq(srq, &attr), 0);
    return attr;
  }
};

TEST_F(SrqTest, ShowsHowItWasMade) {
  ibv_srq* const srq = create();
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(srq->context, context_);
  EXPECT_EQ(srq->srq_context, this);
  EXPECT_EQ(srq->pd, pd_);
  EXPECT_EQ(query(srq).max_wr, 8u);
  EXPECT_EQ(query(srq).max_sge, 4u);
  EXPECT_EQ(query(srq).srq_limit, 0u);
  uint32_t number = 0;
  EXPECT_EQ(ibv_get_srq_num(srq, &number), EOPNOTSUPP);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(SrqTest, IsRefusedBeyondTheLimits) {
  for (const auto& [wr, sge] : {std::pair{0u, 1u}, std::pair{1u << 20, 1u}, std::pair{8u, 99u}}) {
    errno = 0;
    EXPECT_EQ(create(wr, sge), nullptr) << wr;
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST_F(SrqTest, HasNoLimitAtFirstWhateverIsAskedFor) {
  ibv_srq_init_attr attr{};
  attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0xCCCCCCCC};
  ibv_srq* const srq = ibv_create_srq(pd_, &attr);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(query(srq).srq_limit, 0u);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(SrqTest, IsModified) {
  ibv_srq* const srq = create();
  ibv_srq_attr attr{.max_wr = 20, .max_sge = 0, .srq_limit = 5};
  EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
  EXPECT_EQ(query(srq).max_wr, 20u);
  EXPECT_EQ(query(srq).srq_limit, 5u);
  attr.srq_limit = 6;
  attr.max_wr = 1;
  EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
  EXPECT_EQ(query(srq).max_wr, 20u);
  attr.srq_limit = 21;
  EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
  EXPECT_EQ(ibv_modify_srq(srq, &attr, 1 << 2), EINVAL);
  EXPECT_EQ(query(srq).srq_limit, 6u);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(SrqTest, StaysWhileAQueuePairUsesIt) {
  ibv_srq* const srq = create();
  ibv_qp_init_attr attr = init(IBV_QPT_RC);
  attr.srq = srq;
  ibv_qp* const qp = make(attr);
  EXPECT_EQ(qp->srq, srq);
  EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
  forget(qp);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(SrqTest, IsBasicWhenItSaysNothingElse) {
  ibv_srq_init_attr_ex attr{};
  attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  attr.srq_type = IBV_SRQT_BASIC;
  attr.pd = pd_;
  ibv_srq* const srq = ibv_create_srq_ex(context_, &attr);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(SrqTest, HasNoTagsToMatch) {
  ibv_srq_init_attr_ex attr{};
  attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  attr.srq_type = IBV_SRQT_TM;
  attr.pd = pd_;
  errno = 0;
  EXPECT_EQ(ibv_create_srq_ex(context_, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  attr.srq_type = IBV_SRQT_XRC;
  errno = 0;
  EXPECT_EQ(ibv_create_srq_ex(context_, &attr), nullptr) << "no domain, no queue";
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(SrqTest, TellsItsEventsInTheContext) {
  ibv_srq* const srq = create();
  dispatch_event({.type = transport::EventType::kSrqLimitReached, .object = &of(srq)});
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(event.element.srq, srq);
  ibv_ack_async_event(&event);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
