// SPDX-License-Identifier: BSD-3-Clause
// Resizing: nothing is lost or reordered, whatever waits and whoever moves first.
#include "transport/completion_resize.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "base/aligned_block_fixture.h"
#include "transport/qp_memory.h"
#include "transport/transport_env.h"

namespace uroce::transport {
namespace {

class CompletionResizeTest : public ::testing::Test {
 protected:
  CompletionResizeTest() : block_(aligned_block(cq_memory_bytes(4, 1))) {
    env.counters = &counters;
    cq = carve_cq_memory(4, 1, block_.get());
    cq->user = cq;
  }
  bool complete() {
    Cqe cqe{};
    cqe.wr_id = next_;
    cqe.qp = this;
    if (!cq_push(env, *cq, cqe)) return false;
    ++next_;
    cq_publish_all(env);
    return true;
  }
  void complete_all(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(complete());
  }
  int resize(uint32_t depth) {
    const uint32_t entries = resized_entries(depth_, depth);
    rings_.emplace_back(entries);
    const int error = cq_switch_ring(env, *cq, rings_.back().data(), entries);
    if (error != 0) return error;
    cq_set_depth(*cq, depth);
    depth_ = depth;
    return 0;
  }
  // Polls `count` and expects them to be the next ones.
  void expect_next(uint32_t count) {
    const uint32_t got =
        cq_poll(*cq, count, [this](const Cqe& cqe) { EXPECT_EQ(cqe.wr_id, expected_++); });
    EXPECT_EQ(got, count);
  }
  void expect_empty() {
    EXPECT_EQ(expected_, next_);
    EXPECT_FALSE(cq_has_entries(*cq));
  }

  TransportEnv env;
  TransportCounters counters;
  CompletionQueue* cq = nullptr;

 private:
  AlignedBlock block_;
  std::vector<std::vector<Cqe>> rings_;
  uint32_t depth_ = 4;
  uint64_t next_ = 0;
  uint64_t expected_ = 0;
};

TEST_F(CompletionResizeTest, LargerQueueTakesMoreAtOnce) {
  complete_all(4);
  EXPECT_FALSE(complete());
  ASSERT_EQ(resize(7), 0);
  complete_all(3);
  EXPECT_FALSE(complete());
  expect_next(7);
  expect_empty();
  complete_all(7);
  expect_next(7);
}

TEST_F(CompletionResizeTest, SmallerQueueIsFullUntilEnoughWasTaken) {
  complete_all(4);
  ASSERT_EQ(resize(2), 0);
  EXPECT_FALSE(complete());
  expect_next(2);
  EXPECT_FALSE(complete());
  expect_next(1);
  complete_all(1);
  expect_next(2);
  expect_empty();
}

TEST_F(CompletionResizeTest, SecondResizeWaitsUntilTheConsumerHasFollowed) {
  complete_all(2);
  ASSERT_EQ(resize(8), 0);
  EXPECT_EQ(resize(16), -EBUSY);
  cq_follow_all(*cq);
  complete_all(1);
  ASSERT_EQ(resize(16), 0);
  complete_all(13);
  expect_next(16);
  expect_empty();
}

TEST_F(CompletionResizeTest, EveryDepthAfterEveryOtherAtEveryPosition) {
  for (uint32_t round = 0; round < 2000; ++round) {
    const uint32_t depth = 1 + round * 7 % 13;
    const uint32_t waiting = cq_most_waiting(*cq);
    expect_next(waiting - std::min(waiting, round % 3));
    while (complete()) {
      if (round % 5 == 0) break;
    }
    if (cq_most_waiting(*cq) > depth) expect_next(cq_most_waiting(*cq) - depth);
    ASSERT_EQ(resize(depth), 0);
    if (round % 2 == 0) complete();
    expect_next(std::min(cq_most_waiting(*cq), 1u));
    cq_follow_all(*cq);
  }
  expect_next(cq_most_waiting(*cq));
  expect_empty();
}

TEST_F(CompletionResizeTest, WhatWasTakenBackStaysTakenBack) {
  complete_all(3);
  cq_take_back(*cq, this);
  ASSERT_EQ(resize(8), 0);
  EXPECT_FALSE(cq_has_entries(*cq));
}

TEST_F(CompletionResizeTest, UnpublishedEntriesGoAlongAndAreNotified) {
  EXPECT_FALSE(cq_arm(*cq, CqArm::kNextComp));
  Cqe cqe{};
  cqe.qp = this;
  ASSERT_TRUE(cq_push(env, *cq, cqe));
  ASSERT_EQ(resize(8), 0);
  EXPECT_TRUE(cq_has_entries(*cq));
  Event event{};
  EXPECT_TRUE(env.events.take(event));
  EXPECT_EQ(event.type, EventType::kCompletion);
}

}  // namespace
}  // namespace uroce::transport
