// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: several threads ring, one engine collects, and no bell goes unheard.
#include <gtest/gtest.h>

#include <array>

#include "engine/doorbell.h"
#include "test/threads/bed.h"

namespace uroce::threads {
namespace {

constexpr uint32_t kSlots = 130;  // three words
constexpr uint32_t kPosters = 3;
constexpr uint32_t kRounds = 20'000;

struct Queue {
  std::atomic<uint32_t> posted{0};  // the poster's
  std::atomic<uint32_t> seen{0};    // the engine's
};

TEST(Doorbell, EachPostIsSeenWithoutAnotherRing) {
  engine::Doorbells doorbells(kSlots, false);
  std::array<Queue, kSlots> queues;
  std::atomic<bool> stop{false};
  std::thread engine([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      bool any = false;
      doorbells.collect([&](uint32_t slot) {
        any = true;
        Queue& queue = queues[slot];
        queue.seen.store(queue.posted.load(std::memory_order_relaxed), std::memory_order_relaxed);
      });
      if (!any) std::this_thread::yield();
    }
  });
  std::atomic<uint32_t> lost{0};
  std::vector<std::thread> posters;
  for (uint32_t poster = 0; poster < kPosters; ++poster) {
    posters.emplace_back([&, poster] {
      // Each has slots in every word, beside those of the others.
      for (uint32_t i = 0; i < kRounds && lost == 0; ++i) {
        const uint32_t slot = (i % (kSlots / kPosters)) * kPosters + poster;
        Queue& queue = queues[slot];
        const uint32_t now = queue.posted.load(std::memory_order_relaxed) + 1;
        queue.posted.store(now, std::memory_order_relaxed);
        doorbells.ring(slot);
        // Now and then nobody rings again until this one has been heard.
        if (i % 16 == 0 && !eventually([&] { return queue.seen.load() == now; })) ++lost;
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(lost.load(), 0u);
  for (const Queue& queue : queues) {
    EXPECT_TRUE(eventually([&] { return queue.seen.load() == queue.posted.load(); }));
  }
  stop = true;
  engine.join();
}

}  // namespace
}  // namespace uroce::threads
