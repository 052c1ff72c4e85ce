// SPDX-License-Identifier: BSD-3-Clause
// Tests of shared receive queues as objects: where they live, resizing, the end.
#include <gtest/gtest.h>

#include "device/device_fixture.h"
#include "transport/receive_work.h"

namespace uroce::device {
namespace {

using transport::QpType;

class SharedReceiveQueues : public ObjectsBed, public testing::Test {
 protected:
  SharedReceiveQueues() : ObjectsBed(TestBedOptions{.engines = 2, .qp_slots = 8}) {}
  // Posts WQEs without memory.
  static void post(SrqHandle& srq, uint32_t count) {
    transport::ReceiveQueue& queue = srq.poster.posting->queue;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t tail = queue.producer.load();
      ASSERT_FALSE(srq.poster.full_at(tail));
      queue.wqe(tail) = {};
      queue.producer.store(tail + 1);
    }
  }
  // As an engine does it.
  static void take(SrqHandle& srq, QpHandle& qp, uint32_t count) {
    transport::TransportEnv env;
    transport::QpContext context;
    context.queues = qp.queues;
    context.srq = &srq.object->queue;
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(transport::recv_wqe_there(context, env));
      qp.queues->recv.consumer.fetch_add(1);
    }
  }
};

// SR-06, SR-08
TEST_F(SharedReceiveQueues, AreCheckedAndHoldTheirDomain) {
  SrqHandle srq;
  const DeviceLimits& limits = device().limits();
  EXPECT_EQ(device().create_srq(*pd_, {.wr_max = 0, .sge_max = 1}, srq), -EINVAL);
  EXPECT_EQ(device().create_srq(*pd_, {.wr_max = limits.srq_wr_max + 1, .sge_max = 1}, srq),
            -EINVAL);
  EXPECT_EQ(device().create_srq(*pd_, {.wr_max = 1, .sge_max = limits.sge_max + 1}, srq), -EINVAL);
  EXPECT_EQ(device().create_srq(*pd_, {.wr_max = 4, .sge_max = 1, .limit = 5}, srq), -EINVAL);
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 100, .sge_max = 4, .limit = 7}, srq), 0);
  const SrqState state = device().query_srq(srq);
  EXPECT_EQ(state.wr_max, 100u);
  EXPECT_EQ(state.sge_max, 4u);
  EXPECT_EQ(state.limit, 7u);
  EXPECT_EQ(device().destroy_pd(*pd_), -EBUSY);
  EXPECT_EQ(device().destroy_srq(srq), 0);
}

TEST_F(SharedReceiveQueues, QueuePairsLiveOnTheEngineOfTheirSharedQueue) {
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 4, .sge_max = 4}, srq), 0);
  QpHandle qps[9];
  QpRequest wanted = request(QpType::kRc);
  wanted.srq = srq.object;
  wanted.capabilities.recv_wr_max = 1'000'000;  // case 50: not looked at
  wanted.capabilities.recv_sge_max = 1;
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(device().create_qp(*pd_, wanted, qps[i]), 0);
    EXPECT_EQ(qps[i].object->engine, srq.object->engine);
    EXPECT_EQ(qps[i].capabilities.recv_wr_max, 0u);
    EXPECT_TRUE(qps[i].shares_receives);
  }
  // The other engine's slots are of no use.
  EXPECT_EQ(device().create_qp(*pd_, wanted, qps[8]), -ENOMEM);
  EXPECT_EQ(device().destroy_srq(srq), -EBUSY);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(device().destroy_qp(qps[i]), 0);
  EXPECT_EQ(device().destroy_srq(srq), 0);
}

// SR-03
TEST_F(SharedReceiveQueues, FailedChangeChangesNothing) {
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 8, .sge_max = 1}, srq), 0);
  post(srq, 4);
  EXPECT_EQ(device().modify_srq(srq, {}, 9), -EINVAL);
  EXPECT_EQ(device().modify_srq(srq, 0, {}), -EINVAL);
  EXPECT_EQ(device().modify_srq(srq, device().limits().srq_wr_max + 1, {}), -EINVAL);
  EXPECT_EQ(device().modify_srq(srq, 3, 1), -EINVAL);  // four are posted
  EXPECT_EQ(device().modify_srq(srq, 4, 5), -EINVAL);
  EXPECT_EQ(device().query_srq(srq).wr_max, 8u);
  EXPECT_EQ(device().query_srq(srq).limit, 0u);
  EXPECT_EQ(device().modify_srq(srq, {}, 6), 0);
  EXPECT_EQ(device().modify_srq(srq, 5, {}), -EINVAL);  // below the armed limit
  EXPECT_EQ(device().modify_srq(srq, 4, 4), 0);
  EXPECT_EQ(device().query_srq(srq).wr_max, 4u);
  EXPECT_EQ(device().query_srq(srq).limit, 4u);
  EXPECT_EQ(device().destroy_srq(srq), 0);
}

TEST_F(SharedReceiveQueues, ResizingAgainAndAgainFreesTheRingsThatAreEmpty) {
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 8, .sge_max = 1}, srq), 0);
  QpHandle qp;
  QpRequest wanted = request(QpType::kRc);
  wanted.srq = srq.object;
  ASSERT_EQ(device().create_qp(*pd_, wanted, qp), 0);
  for (uint32_t round = 0; round < 100; ++round) {
    post(srq, 2);
    ASSERT_EQ(device().modify_srq(srq, 4 + round % 8, {}), 0) << round;
    post(srq, 1);
    take(srq, qp, 3);
    EXPECT_LE(srq.object->rings.size(), 2u);
  }
  EXPECT_EQ(device().destroy_qp(qp), 0);
  EXPECT_EQ(device().destroy_srq(srq), 0);
}

TEST_F(SharedReceiveQueues, ResizingWithoutTrafficGivesTheMemoryBack) {
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 8, .sge_max = 1}, srq), 0);
  for (uint32_t round = 0; round < 20; ++round) {
    ASSERT_EQ(device().modify_srq(srq, 8 + round % 4, {}), 0) << round;
    EXPECT_EQ(srq.object->rings.size(), 1u);
  }
  post(srq, 4);
  for (uint32_t round = 0; round < 20; ++round) {
    ASSERT_EQ(device().modify_srq(srq, 8 + round % 4, {}), 0) << round;
    EXPECT_EQ(srq.object->rings.size(), 2u) << "the one with the WQEs and the one posted to";
  }
  post(srq, 4);
  EXPECT_EQ(srq.poster.queued(), 8u);
  QpHandle qp;
  QpRequest wanted = request(QpType::kRc);
  wanted.srq = srq.object;
  ASSERT_EQ(device().create_qp(*pd_, wanted, qp), 0);
  take(srq, qp, 8);
  EXPECT_EQ(srq.poster.queued(), 0u);
  EXPECT_EQ(device().destroy_qp(qp), 0);
  EXPECT_EQ(device().destroy_srq(srq), 0);
}

TEST_F(SharedReceiveQueues, ResizingWithWorkInEveryRingHasAnEnd) {
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 100, .sge_max = 1}, srq), 0);
  int error = 0;
  int times = 0;
  for (; error == 0 && times < 50; ++times) {
    post(srq, 1);
    error = device().modify_srq(srq, 100, {});
  }
  EXPECT_EQ(error, -ENOMEM);
  EXPECT_GT(times, 4);
  post(srq, 8);
  EXPECT_EQ(srq.poster.queued(), static_cast<uint32_t>(times) + 8);
  EXPECT_EQ(device().destroy_srq(srq), 0);
}

}  // namespace
}  // namespace uroce::device
