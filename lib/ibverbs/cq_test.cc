// SPDX-License-Identifier: BSD-3-Clause
// Tests of completion queues as objects.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "device/live_objects.h"
#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

class CqTest : public DomainTest {
 protected:
  ibv_cq* create(int cqe, ibv_comp_channel* channel = nullptr, int vector = 0) {
    return ibv_create_cq(context_, cqe, this, channel, vector);
  }
  ibv_cq_ex* create_ex(uint64_t wc_flags, uint32_t comp_mask = 0, uint32_t flags = 0,
                       ibv_pd* parent_domain = nullptr) {
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 16;
    attr.cq_context = this;
    attr.wc_flags = wc_flags;
    attr.comp_mask = comp_mask;
    attr.flags = flags;
    attr.parent_domain = parent_domain;
    return ibv_create_cq_ex(context_, &attr);
  }
};

TEST_F(CqTest, IsAsLongAsAskedFor) {
  ibv_cq* const cq = create(17);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(cq->context, context_);
  EXPECT_EQ(cq->cq_context, this);
  EXPECT_EQ(cq->channel, nullptr);
  EXPECT_EQ(cq->cqe, 17);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

// CQ-01.
TEST_F(CqTest, HasALengthAndAVectorThatTheDeviceHas) {
  ibv_device_attr limits{};
  ASSERT_EQ(ibv_query_device(context_, &limits), 0);
  for (const int cqe : {0, -1, limits.max_cqe + 1}) {
    errno = 0;
    EXPECT_EQ(create(cqe), nullptr) << cqe;
    EXPECT_EQ(errno, EINVAL);
  }
  for (const int vector : {-1, 1}) {
    errno = 0;
    EXPECT_EQ(create(1, nullptr, vector), nullptr) << vector;
    EXPECT_EQ(errno, EINVAL);
  }
  ibv_cq* const longest = create(limits.max_cqe);
  ASSERT_NE(longest, nullptr);
  EXPECT_EQ(ibv_destroy_cq(longest), 0);
}

TEST_F(CqTest, UsesItsChannel) {
  ibv_comp_channel* const channel = ibv_create_comp_channel(context_);
  ibv_cq* const cq = create(8, channel);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(channel->refcnt, 1);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(CqTest, LeavesNothingBehindWhenItIsRefused) {
  ibv_comp_channel* const channel = ibv_create_comp_channel(context_);
  runtime_.error = -EIO;
  EXPECT_EQ(create(8, channel), nullptr);
  EXPECT_EQ(errno, EIO);
  runtime_.error = 0;
  ibv_device_attr limits{};
  ASSERT_EQ(ibv_query_device(context_, &limits), 0);
  EXPECT_EQ(create(limits.max_cqe + 1, channel), nullptr);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(CqTest, IsExtendedWithWhatThereIsToRead) {
  ibv_cq_ex* const cq =
      create_ex(uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(cq->cqe, 16);
  EXPECT_TRUE(of(cq).keeps_time);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  for (const uint64_t flags :
       {uint64_t{IBV_WC_EX_WITH_TM_INFO}, uint64_t{IBV_WC_EX_WITH_FLOW_TAG}, uint64_t{1} << 40}) {
    errno = 0;
    EXPECT_EQ(create_ex(flags), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
}

TEST_F(CqTest, OfOneThreadHasNoLock) {
  ibv_cq_ex* const cq =
      create_ex(0, IBV_CQ_INIT_ATTR_MASK_FLAGS, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
  ASSERT_NE(cq, nullptr);
  EXPECT_TRUE(of(cq).handle.exclusive);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  errno = 0;
  EXPECT_EQ(create_ex(0, IBV_CQ_INIT_ATTR_MASK_FLAGS, 1 << 2), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(create_ex(0, 1 << 2), nullptr);
}

TEST_F(CqTest, LosesNoCompletionOnDemand) {
  errno = 0;
  EXPECT_EQ(create_ex(0, IBV_CQ_INIT_ATTR_MASK_FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(CqTest, KeepsItsParentDomain) {
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_;
  ibv_pd* const parent = ibv_alloc_parent_domain(context_, &attr);
  ibv_cq_ex* const cq = create_ex(0, IBV_CQ_INIT_ATTR_MASK_PD, 0, parent);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  errno = 0;
  EXPECT_EQ(create_ex(0, IBV_CQ_INIT_ATTR_MASK_PD, 0, pd_), nullptr) << "not a parent domain";
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(CqTest, IsResized) {
  ibv_cq* const cq = create(3);
  EXPECT_EQ(ibv_resize_cq(cq, 7), 0);
  EXPECT_EQ(cq->cqe, 7);
  EXPECT_EQ(ibv_resize_cq(cq, 1), 0);
  EXPECT_EQ(cq->cqe, 1);
  EXPECT_EQ(ibv_resize_cq(cq, 0), EINVAL);
  EXPECT_EQ(cq->cqe, 1);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST_F(CqTest, IsModerated) {
  ibv_cq* const cq = create(3);
  ibv_modify_cq_attr attr{.attr_mask = IBV_CQ_ATTR_MODERATE,
                          .moderate = {.cq_count = 5, .cq_period = 9}};
  EXPECT_EQ(ibv_modify_cq(cq, &attr), 0);
  const transport::CqModeration set = of(cq).handle.queue->moderation.load();
  EXPECT_EQ(set.count, 5);
  EXPECT_EQ(set.period_us, 9);
  attr.attr_mask = 1 << 1;
  EXPECT_EQ(ibv_modify_cq(cq, &attr), EINVAL);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

// An event that the application has taken names the queue: it must be acknowledged before that
// goes.
TEST_F(CqTest, StaysUntilItsEventsAreAcknowledged) {
  ibv_comp_channel* const channel = ibv_create_comp_channel(context_);
  ibv_cq* const cq = create(8, channel);
  dispatch_event({.type = transport::EventType::kCompletion, .object = &of(cq)});
  ibv_cq* named = nullptr;
  void* user = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel, &named, &user), 0);
  EXPECT_EQ(named, cq);
  EXPECT_EQ(user, this);
  std::atomic<bool> destroyed{false};
  std::thread other([&] {
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    destroyed = true;
  });
  // No event reaches it any more; the destroy still waits.
  device::LiveObjects& live = device::LiveObjects::instance();
  while (live.enter(&of(cq))) {
    live.leave(&of(cq));
    std::this_thread::yield();
  }
  EXPECT_FALSE(destroyed);
  ibv_ack_cq_events(cq, 1);
  other.join();
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
