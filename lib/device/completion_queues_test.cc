// SPDX-License-Identifier: BSD-3-Clause
// Tests of completion queues as objects.
#include <gtest/gtest.h>

#include "device/device_fixture.h"

namespace uroce::device {
namespace {

// CQ-01, CQ-07 in part.
TEST(CompletionQueues, SizesAreCheckedAndLanesFollowTheEngines) {
  TestBedOptions options;
  options.engines = 2;
  options.limits.cqe_max = 100;
  options.limits.cq_max = 2;
  TestBed bed(options);
  ASSERT_EQ(bed.device().start(), 0);
  CqHandle one;
  CqHandle two;
  CqHandle three;
  EXPECT_EQ(bed.device().create_cq(0, nullptr, one), -EINVAL);
  EXPECT_EQ(bed.device().create_cq(101, nullptr, one), -EINVAL);
  int mark = 0;
  ASSERT_EQ(bed.device().create_cq(100, &mark, one), 0);
  EXPECT_EQ(one.queue->lane_count, 2u);
  EXPECT_EQ(one.queue->user, &mark);
  EXPECT_GE(one.depth, 100u);
  EXPECT_TRUE(one.exclusive);
  ASSERT_EQ(bed.device().create_cq(1, nullptr, two), 0);
  EXPECT_EQ(bed.device().create_cq(1, nullptr, three), -ENOMEM);
  EXPECT_EQ(bed.device().destroy_cq(one), 0);
  EXPECT_EQ(bed.device().destroy_cq(two), 0);
}

TEST(CompletionQueues, ResizingReachesEveryEnginesLane) {
  TestBedOptions options;
  options.engines = 2;
  options.limits.cqe_max = 100;
  TestBed bed(options);
  ASSERT_EQ(bed.device().start(), 0);
  CqHandle cq;
  ASSERT_EQ(bed.device().create_cq(4, nullptr, cq), 0);
  EXPECT_EQ(bed.device().resize_cq(cq, 0), -EINVAL);
  EXPECT_EQ(bed.device().resize_cq(cq, 101), -EINVAL);
  for (const uint32_t depth : {100u, 3u, 1u, 17u}) {
    ASSERT_EQ(bed.device().resize_cq(cq, depth), 0);
    EXPECT_EQ(cq.depth, depth);
    for (uint32_t i = 0; i < 2; ++i) {
      const transport::CqLane& lane = cq.queue->lanes[i];
      EXPECT_EQ(lane.depth, depth);
      EXPECT_FALSE(lane.moved);
      EXPECT_EQ(lane.read_entries, lane.entries);
    }
    EXPECT_NE(cq.queue->lanes[0].entries, cq.queue->lanes[1].entries);
    EXPECT_EQ(cq.object->rings.size(), 1u);
  }
  EXPECT_EQ(bed.device().destroy_cq(cq), 0);
}

// One engine answers, the other not yet.
TEST(CompletionQueues, AResizeThatTimesOutLeavesTheDepthAndALaterOneFinishesIt) {
  TestBedOptions options;
  options.engines = 2;
  options.mode = engine::DriveMode::kWorker;
  TestBed bed(options);
  bed.on_clock = [&] { bed.work(); };
  ASSERT_EQ(bed.device().start(), 0);
  CqHandle cq;
  ASSERT_EQ(bed.device().create_cq(16, nullptr, cq), 0);
  for (const uint32_t depth : {100u, 3u}) {
    bed.on_clock = [&] {
      engine::Command* command = nullptr;
      while (bed.seat(0).mailbox().pop(command)) {
        bed.seat(0).engine().handle_command(bed.clock(), *command);
      }
      bed.pass(std::chrono::milliseconds(100));
    };
    EXPECT_EQ(bed.device().resize_cq(cq, depth), -ETIMEDOUT);
    EXPECT_EQ(cq.depth, 16u);
    for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(cq.queue->lanes[i].depth.load(), 16u);
  }
  bed.on_clock = [&] { bed.work(); };
  ASSERT_EQ(bed.device().resize_cq(cq, 50), 0) << "what timed out arrives now, too";
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(cq.queue->lanes[i].depth.load(), 50u);
  EXPECT_EQ(cq.object->rings.size(), 1u);
  EXPECT_EQ(bed.device().destroy_cq(cq), 0);
}

class Destruction : public ObjectsBed, public testing::Test {};

// A face takes an object's handlers away when nothing can bring the object back.
TEST_F(Destruction, AsksForQuietOnlyWhenNothingRefusesIt) {
  int asked = 0;
  const Quiesce quiesce = [&asked] { ++asked; };
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, {.wr_max = 4, .sge_max = 2}, srq), 0);
  CqHandle cq;
  ASSERT_EQ(device().create_cq(16, nullptr, cq), 0);
  QpRequest wanted = request(transport::QpType::kRc);
  wanted.send_cq = cq.object;
  wanted.srq = srq.object;
  QpHandle qp;
  ASSERT_EQ(device().create_qp(*pd_, wanted, qp), 0);
  QpHandle member;
  make(transport::QpType::kUd, member);
  ASSERT_EQ(device().attach_multicast(member, kTestGroup), 0);
  EXPECT_EQ(device().destroy_cq(cq, quiesce), -EBUSY);
  EXPECT_EQ(device().destroy_srq(srq, quiesce), -EBUSY);
  EXPECT_EQ(device().destroy_qp(member, quiesce), -EBUSY);
  EXPECT_EQ(asked, 0);
  ASSERT_EQ(device().detach_multicast(member, kTestGroup), 0);
  EXPECT_EQ(device().destroy_qp(member, quiesce), 0);
  EXPECT_EQ(device().destroy_qp(qp, quiesce), 0);
  EXPECT_EQ(device().destroy_srq(srq, quiesce), 0);
  const Quiesce meanwhile = [&] {
    QpHandle late;
    QpRequest with = request(transport::QpType::kRc);
    with.recv_cq = cq.object;
    EXPECT_EQ(device().create_qp(*pd_, with, late), -EBUSY) << "it is going";
    EXPECT_EQ(device().destroy_cq(cq), -EBUSY);
  };
  EXPECT_EQ(device().destroy_cq(cq, meanwhile), 0);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace uroce::device
