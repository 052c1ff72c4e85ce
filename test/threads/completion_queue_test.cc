// SPDX-License-Identifier: BSD-3-Clause
// A completion queue that two engines fill while one thread polls, arms and waits: no entry is lost
// and no wake-up either.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "base/random.h"
#include "test/threads/bed.h"
#include "transport/completion_queue.h"
#include "transport/transport_env.h"

namespace uroce::threads {
namespace {

using transport::Cqe;

constexpr uint32_t kEngines = 2;
constexpr uint32_t kDepth = 64;
constexpr uint64_t kEntries = 40'000;  // of each engine

class Lanes {
 public:
  Lanes() {
    for (uint32_t i = 0; i < kEngines; ++i) {
      lanes_[i].entries = lanes_[i].read_entries = entries_[i].data();
      lanes_[i].mask = lanes_[i].read_mask = kDepth - 1;
      lanes_[i].depth = kDepth;
    }
    cq.lanes = lanes_.data();
    cq.lane_count = kEngines;
    cq.user = this;
  }

  // Engine `index`: bursts of entries; after each it waits until all of them have been taken, so
  // that a consumer who sleeps through one event stops everything.
  void fill(uint32_t index) {
    transport::TransportCounters counters;
    auto env = std::make_unique<transport::TransportEnv>();
    env->engine_index = index;
    env->counters = &counters;
    Random random(index + 1);
    for (uint64_t next = 0; next < kEntries && !failed;) {
      const uint64_t burst = std::min(kEntries - next, 1 + random.below(kDepth));
      for (uint64_t i = 0; i < burst; ++i) {
        Cqe cqe{};
        cqe.wr_id = next++;
        cqe.qp = this;
        cqe.src_qpn = index;
        if (!cq_push(*env, cq, cqe)) failed = true;
      }
      cq_publish_all(*env);
      transport::Event event{};
      while (env->events.take(event)) events.fetch_add(1, std::memory_order_release);
      const transport::CqLane& lane = lanes_[index];
      if (!eventually([&] {
            return failed || lane.consumer.load() == lane.producer.load(std::memory_order_relaxed);
          })) {
        failed = true;
      }
    }
  }

  transport::CompletionQueue cq;
  std::atomic<uint64_t> events{0};
  std::atomic<bool> failed{false};

 private:
  std::array<transport::CqLane, kEngines> lanes_;
  std::array<std::array<Cqe, kDepth>, kEngines> entries_;
};

// case 41
TEST(CompletionQueue, AConsumerThatSleepsUntilItsEventMissesNothing) {
  Lanes lanes;
  std::vector<std::thread> engines;
  for (uint32_t i = 0; i < kEngines; ++i) engines.emplace_back([&lanes, i] { lanes.fill(i); });
  std::array<uint64_t, kEngines> next{};
  uint64_t wrong = 0;
  uint64_t slept = 0;
  uint64_t heard = 0;  // events that this thread has slept for
  while (next[0] + next[1] < kEngines * kEntries && !lanes.failed) {
    const uint32_t count = cq_poll(lanes.cq, 16, [&](const Cqe& entry) {
      wrong += entry.wr_id != next[entry.src_qpn]++ ? 1 : 0;
    });
    if (count != 0 || cq_arm(lanes.cq, transport::CqArm::kNextComp)) continue;
    ++slept;
    ASSERT_TRUE(eventually([&] { return lanes.failed || lanes.events.load() > heard; }))
        << "a wake-up was lost";
    heard = lanes.events.load(std::memory_order_acquire);
  }
  for (std::thread& engine : engines) engine.join();
  EXPECT_FALSE(lanes.failed);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(slept, 0u);
}

}  // namespace
}  // namespace uroce::threads
