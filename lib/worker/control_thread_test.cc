// SPDX-License-Identifier: BSD-3-Clause
// Every event is delivered once and in order, and the tick comes without events too.
#include "worker/control_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace uroce::worker {
namespace {

struct Seen {
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> out_of_order{0};
  std::atomic<uint64_t> ticks{0};
};

TEST(ControlThread, DeliversEveryEventOnceAndInOrder) {
  Seen seen;
  const EventSink sink{[](void* context, const transport::Event& event) {
                         auto& s = *static_cast<Seen*>(context);
                         const uint64_t expected = s.count.fetch_add(1) + 1;
                         if (reinterpret_cast<uint64_t>(event.object) != expected) ++s.out_of_order;
                       },
                       &seen};
  constexpr uint64_t kCount = 20000;
  {
    ControlThread thread(
        1, sink, [](void* context) { ++static_cast<Seen*>(context)->ticks; }, &seen,
        Duration(10'000'000'000));  // so long that it does not deliver
    for (uint64_t i = 1; i <= kCount; ++i) {
      const transport::Event event{transport::EventType::kCompletion, reinterpret_cast<void*>(i)};
      while (!thread.push(0, event)) std::this_thread::yield();
      // Now and then wait until it was seen, so that the thread falls asleep in between.
      while (i % 100 == 0 && seen.count.load() < i) std::this_thread::yield();
    }
  }
  EXPECT_EQ(seen.count.load(), kCount);
  EXPECT_EQ(seen.out_of_order.load(), 0u);
  EXPECT_EQ(seen.ticks.load(), 1u);
}

TEST(ControlThread, LooksTheMoreOftenTheShorterAgoItFoundSomething) {
  EXPECT_EQ(ControlThread::pause_after(Duration(0)), ControlThread::kPauseMin);
  EXPECT_EQ(ControlThread::pause_after(Duration(1'600'000)), Duration(200'000));
  EXPECT_EQ(ControlThread::pause_after(Duration(3'600'000'000'000)), ControlThread::kPauseMax);
}

TEST(ControlThread, EndsAtOnceAndDeliversWhatIsLeft) {
  Seen seen;
  const EventSink sink{
      [](void* context, const transport::Event&) { ++static_cast<Seen*>(context)->count; }, &seen};
  ControlThread thread(
      1, sink, [](void*) {}, nullptr, Duration(3'600'000'000'000));
  ASSERT_TRUE(thread.push(0, {}));
  thread.stop();
  EXPECT_EQ(seen.count.load(), 1u);
  ControlThread without_lanes(
      0, sink, [](void*) {}, nullptr, Duration(3'600'000'000'000));
  without_lanes.stop();
}

}  // namespace
}  // namespace uroce::worker
