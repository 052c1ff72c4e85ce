// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: lanes, overrun, one-shot notification, and taking entries back.
#include "transport/completion_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "transport/qp_memory.h"
#include "transport/transport_env.h"

namespace uroce::transport {
namespace {

// Two engines that share completion queues.
class CompletionQueueTest : public ::testing::Test {
 protected:
  CompletionQueueTest() {
    for (uint32_t i = 0; i < 2; ++i) {
      env[i].engine_index = i;
      env[i].counters = &counters[i];
    }
    env[0].grace.watch(epochs_, 0, 2);
    cq = make(4);
  }
  CompletionQueue* make(uint32_t depth) {
    const size_t size = cq_memory_bytes(depth, 2);
    blocks_.emplace_back(size + kCacheLine);
    uint8_t* p = blocks_.back().data();
    p += (kCacheLine - reinterpret_cast<uintptr_t>(p) % kCacheLine) % kCacheLine;
    CompletionQueue* made = carve_cq_memory(depth, 2, p);
    made->user = made;
    return made;
  }
  Cqe cqe(uint64_t wr_id, WcStatus status = WcStatus::kSuccess, bool solicited = false) {
    Cqe c{};
    c.wr_id = wr_id;
    c.qp = &qps_[0];
    c.status = status;
    c.solicited = solicited;
    return c;
  }
  std::vector<uint64_t> poll(uint32_t count = 100) {
    std::vector<uint64_t> ids;
    cq_poll(*cq, count, [&](const Cqe& cqe) { ids.push_back(cqe.wr_id); });
    return ids;
  }
  static std::vector<EventType> events(TransportEnv& e) {
    std::vector<EventType> out;
    Event event{};
    while (e.events.take(event)) out.push_back(event.type);
    return out;
  }
  using Ids = std::vector<uint64_t>;
  using Events = std::vector<EventType>;

  // The other engine is in a turn, another one than before.
  void next_turn() {
    if (other_.inside_turn()) other_.end_turn();
    other_.begin_turn(false);
  }
  void hold() {
    next_turn();
    cq_hold(env[0], *cq, env[0].grace.ask());
  }

  TransportEnv env[2];
  TransportCounters counters[2];
  CompletionQueue* cq = nullptr;
  EpochSlot other_;
  int qps_[2] = {};

 private:
  std::vector<std::vector<uint8_t>> blocks_;
  std::vector<const EpochSlot*> epochs_{nullptr, &other_};
};

TEST_F(CompletionQueueTest, EntriesShowWhenTheInputIsOver) {
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  EXPECT_FALSE(cq_has_entries(*cq));
  EXPECT_EQ(poll(), Ids{});
  cq_publish_all(env[0]);
  EXPECT_TRUE(cq_has_entries(*cq));
  EXPECT_EQ(poll(1), Ids{1});
  EXPECT_EQ(poll(), Ids{2});
  EXPECT_FALSE(cq_has_entries(*cq));
}

TEST_F(CompletionQueueTest, EachEngineFillsItsOwnLaneInOrder) {
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(i)));
    ASSERT_TRUE(cq_push(env[1], *cq, cqe(10 + i)));
  }
  cq_publish_all(env[1]);
  EXPECT_EQ(poll(2), (Ids{10, 11}));
  cq_publish_all(env[0]);
  EXPECT_EQ(poll(), (Ids{0, 1, 2, 3, 12, 13}));
}

TEST_F(CompletionQueueTest, ABusyLaneDoesNotStarveTheOther) {
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(i)));
    ASSERT_TRUE(cq_push(env[1], *cq, cqe(10 + i)));
  }
  cq_publish_all(env[0]);
  cq_publish_all(env[1]);
  EXPECT_EQ(poll(1), Ids{0});
  EXPECT_EQ(poll(1), Ids{10});
  EXPECT_EQ(poll(1), Ids{1});
}

TEST_F(CompletionQueueTest, AFullLaneIsOneErrorEventAndCounted) {
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(cq_push(env[0], *cq, cqe(i)));
  EXPECT_FALSE(cq_push(env[0], *cq, cqe(4)));
  EXPECT_FALSE(cq_push(env[0], *cq, cqe(5)));
  EXPECT_TRUE(cq->overrun.load());
  EXPECT_EQ(events(env[0]), Events{EventType::kCqErr});
  EXPECT_EQ(counters[0].cq_overrun.value(), 2u);
  cq_publish_all(env[0]);
  EXPECT_EQ(poll(), (Ids{0, 1, 2, 3}));
  EXPECT_TRUE(cq_push(env[0], *cq, cqe(6))) << "the queue itself goes on";
}

TEST_F(CompletionQueueTest, RingWrapsAroundManyTimes) {
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(i)));
    cq_publish_all(env[0]);
    ASSERT_EQ(poll(), Ids{i});
  }
}

// case 41
TEST_F(CompletionQueueTest, AnArmingGivesOneEvent) {
  EXPECT_FALSE(cq_arm(*cq, CqArm::kNextComp));
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  EXPECT_EQ(events(env[0]), Events{});
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{});
}

// case 41
TEST_F(CompletionQueueTest, WhatWaitedBeforeTheArmingIsReportedByIt) {
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  cq_publish_all(env[0]);
  EXPECT_TRUE(cq_arm(*cq, CqArm::kNextComp));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{}) << "no event for the one that waited";
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
}

// The wake-up that must not be lost: written, then armed, then published.
TEST_F(CompletionQueueTest, ArmedBetweenWritingAndPublishingStillGetsItsEvent) {
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  EXPECT_FALSE(cq_arm(*cq, CqArm::kNextComp));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
}

// case 41
TEST_F(CompletionQueueTest, SolicitedArmingWaitsForSolicitedOrFailed) {
  cq_arm(*cq, CqArm::kSolicited);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{});
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2, WcStatus::kSuccess, true)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
  cq_arm(*cq, CqArm::kSolicited);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(3)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{}) << "the flag of the last burst must be gone";
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(4, WcStatus::kWrFlushErr)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
}

TEST_F(CompletionQueueTest, ArmingForMoreIsNotNarrowed) {
  cq_arm(*cq, CqArm::kNextComp);
  cq_arm(*cq, CqArm::kSolicited);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
}

TEST_F(CompletionQueueTest, TwoEnginesRaiseOneEventForOneArming) {
  cq_arm(*cq, CqArm::kNextComp);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  ASSERT_TRUE(cq_push(env[1], *cq, cqe(2)));
  cq_publish_all(env[0]);
  cq_publish_all(env[1]);
  EXPECT_EQ(events(env[0]).size() + events(env[1]).size(), 1u);
}

TEST_F(CompletionQueueTest, ManyEventsThatNobodyFetchesHideNone) {
  for (int i = 0; i < 5000; ++i) {
    cq_arm(*cq, CqArm::kNextComp);
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
    cq_publish_all(env[0]);
    poll();
  }
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(cq_push(env[0], *cq, cqe(i)));
  EXPECT_FALSE(cq_push(env[0], *cq, cqe(4)));
  EXPECT_EQ(events(env[0]), (Events{EventType::kCqErr, EventType::kCompletion}));
}

TEST_F(CompletionQueueTest, ForgottenQueueIsOnNoListAnyMore) {
  cq->moderation = CqModeration{4, 100};
  cq_arm(*cq, CqArm::kNextComp);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  cq_publish_all(env[0]);
  EXPECT_EQ(env[0].held_count, 1u);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  env[0].raise(cq->lanes[0].events, EventType::kCqErr, cq);
  cq_forget(env[0], *cq);
  EXPECT_EQ(env[0].held_count, 0u);
  EXPECT_EQ(env[0].dirty, nullptr);
  EXPECT_TRUE(env[0].events.empty());
}

// CQ-06
TEST_F(CompletionQueueTest, ModeratedEventWaitsForTheCountOrForThePeriod) {
  cq->moderation = CqModeration{4, 1000};
  const auto complete = [&](uint64_t id) {
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(id)));
    cq_publish_all(env[0]);
  };
  cq_arm(*cq, CqArm::kNextComp);
  for (uint64_t i = 0; i < 3; ++i) complete(i);
  EXPECT_EQ(events(env[0]), Events{});
  EXPECT_EQ(env[0].held_deadline, env[0].now + std::chrono::microseconds(1000));
  complete(3);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion}) << "four: at once";
  poll();

  cq_arm(*cq, CqArm::kNextComp);
  complete(4);
  env[0].now += std::chrono::microseconds(400);
  complete(5);
  env[0].now += std::chrono::microseconds(599);
  cq_raise_held(env[0]);
  EXPECT_EQ(events(env[0]), Events{});
  env[0].now += std::chrono::microseconds(1);
  cq_raise_held(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion}) << "1 ms after the first";
  env[0].now += std::chrono::seconds(1);
  cq_raise_held(env[0]);
  EXPECT_EQ(events(env[0]), Events{}) << "one for the arming";
  EXPECT_EQ(env[0].held_deadline, kNever);
}

TEST_F(CompletionQueueTest, WithoutAPeriodNothingIsHeldBack) {
  cq->moderation = CqModeration{4, 0};
  cq_arm(*cq, CqArm::kNextComp);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
}

// The solicited one is held back, and those behind it do not take its event away.
TEST_F(CompletionQueueTest, HeldBackSolicitedEventComesAllTheSame) {
  cq->moderation = CqModeration{0, 50};
  cq_arm(*cq, CqArm::kSolicited);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1, WcStatus::kSuccess, true)));
  cq_publish_all(env[0]);
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{});
  env[0].now += std::chrono::microseconds(50);
  cq_raise_held(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
}

TEST_F(CompletionQueueTest, TakesBackOneQueuePairsEntriesOnly) {
  Cqe other = cqe(2);
  other.qp = &qps_[1];
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  ASSERT_TRUE(cq_push(env[0], *cq, other));
  ASSERT_TRUE(cq_push(env[1], *cq, cqe(3)));
  cq_publish_all(env[0]);
  cq_publish_all(env[1]);
  cq_take_back(*cq, &qps_[0]);
  EXPECT_TRUE(cq_has_entries(*cq));
  EXPECT_EQ(poll(1), Ids{2});
  EXPECT_FALSE(cq_has_entries(*cq)) << "what was taken back does not count";
  EXPECT_EQ(poll(), Ids{});
  for (uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(cq_push(env[0], *cq, cqe(i))) << "room is back";
}

TEST_F(CompletionQueueTest, AnyNumberOfQueuesIsPublishedTogether) {
  constexpr uint32_t kMany = 1000;
  std::vector<CompletionQueue*> many;
  for (uint32_t i = 0; i < kMany; ++i) {
    many.push_back(make(1));
    cq_arm(*many[i], CqArm::kNextComp);
    ASSERT_TRUE(cq_push(env[0], *many[i], cqe(i)));
  }
  EXPECT_FALSE(cq_has_entries(*many.front()));
  cq_forget(env[0], *many[kMany / 2]);
  cq_publish_all(env[0]);
  EXPECT_TRUE(cq_has_entries(*many.front()));
  EXPECT_FALSE(cq_has_entries(*many[kMany / 2]));
  EXPECT_TRUE(cq_has_entries(*many.back()));
  EXPECT_EQ(events(env[0]).size(), kMany - 1);
  EXPECT_EQ(env[0].dirty, nullptr);
}

TEST_F(CompletionQueueTest, OnlyWhatComesBehindAHoldWaitsForIt) {
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  hold();
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  cq_publish_all(env[0]);
  EXPECT_EQ(poll(), Ids{1});
  EXPECT_EQ(env[0].dirty, cq) << "looked at again";
  other_.end_turn();
  cq_publish_all(env[0]);
  EXPECT_EQ(poll(), Ids{2});
  EXPECT_EQ(env[0].dirty, nullptr);
}

// In each turn of the other engine two keys are taken back: there is always a newer ticket.
TEST_F(CompletionQueueTest, HoldsThatNeverEndLetEachEntryThroughWhenItsOwnIsOver) {
  cq = make(8);
  uint64_t pushed = 0;
  uint64_t seen = 0;
  for (uint64_t turn = 1; turn < 20; ++turn) {
    hold();
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(++pushed)));
    cq_hold(env[0], *cq, env[0].grace.ask());
    ASSERT_TRUE(cq_push(env[0], *cq, cqe(++pushed)));
    cq_publish_all(env[0]);
    for (const uint64_t id : poll()) EXPECT_EQ(id, ++seen);
    EXPECT_LT(seen, pushed);
    EXPECT_GE(seen + 4, pushed) << "for two turns at most";
  }
  other_.end_turn();
  cq_publish_all(env[0]);
  for (const uint64_t id : poll()) EXPECT_EQ(id, ++seen);
  EXPECT_EQ(seen, pushed);
}

TEST_F(CompletionQueueTest, ASolicitedEntryThatIsHeldRaisesItsEventWhenItShows) {
  EXPECT_FALSE(cq_arm(*cq, CqArm::kSolicited));
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1)));
  hold();
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2, WcStatus::kSuccess, true)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{});
  EXPECT_EQ(poll(), Ids{1});
  other_.end_turn();
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
  EXPECT_EQ(poll(), Ids{2});
}

TEST_F(CompletionQueueTest, ASolicitedEntryBeforeAHoldRaisesItsEventAtOnce) {
  EXPECT_FALSE(cq_arm(*cq, CqArm::kSolicited));
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1, WcStatus::kSuccess, true)));
  hold();
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
  EXPECT_EQ(poll(), Ids{1});
  EXPECT_FALSE(cq_arm(*cq, CqArm::kSolicited));
  other_.end_turn();
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{}) << "the other one is not solicited";
}

TEST_F(CompletionQueueTest, AHoldThatEndsBeforeItIsSeenForgetsNoSolicitedEntry) {
  EXPECT_FALSE(cq_arm(*cq, CqArm::kSolicited));
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(1, WcStatus::kSuccess, true)));
  hold();
  ASSERT_TRUE(cq_push(env[0], *cq, cqe(2)));
  other_.end_turn();
  cq_publish_all(env[0]);
  EXPECT_EQ(events(env[0]), Events{EventType::kCompletion});
  EXPECT_EQ(poll(), (Ids{1, 2}));
}

}  // namespace
}  // namespace uroce::transport
