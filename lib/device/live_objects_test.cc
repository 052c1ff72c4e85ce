// SPDX-License-Identifier: BSD-3-Clause
// Tests of event delivery against destruction, with real threads.
#include "device/live_objects.h"

#include <gtest/gtest.h>

#include <atomic>

namespace uroce::device {
namespace {

TEST(LiveObjects, AnObjectThatHasGoneIsNotEntered) {
  LiveObjects live;
  int object = 0;
  EXPECT_FALSE(live.enter(&object));
  live.add(&object);
  EXPECT_TRUE(live.enter(&object));
  live.leave(&object);
  live.remove(&object);
  EXPECT_FALSE(live.enter(&object));
}

TEST(LiveObjects, AHandlerMayRemoveItsOwnObject) {
  LiveObjects live;
  int object = 0;
  live.add(&object);
  ASSERT_TRUE(live.enter(&object));
  live.remove(&object);  // returns
  EXPECT_FALSE(live.enter(&object));
  live.leave(&object);
  live.add(&object);
  EXPECT_TRUE(live.enter(&object)) << "nothing of the old one is left";
  live.leave(&object);
  live.remove(&object);
}

TEST(LiveObjects, AHandlerWhoseDestroyIsRefusedLeavesTheObjectAlive) {
  LiveObjects objects;
  const int object = 0;
  objects.add(&object);
  ASSERT_TRUE(objects.enter(&object));
  objects.remove(&object);
  objects.add(&object);  // -EBUSY: it stays
  objects.leave(&object);
  EXPECT_TRUE(objects.enter(&object));
  objects.leave(&object);
  objects.remove(&object);
  EXPECT_FALSE(objects.enter(&object));
}

TEST(LiveObjects, RemovalWaitsForAHandlerOnAnotherThread) {
  LiveObjects live;
  int object = 0;
  live.add(&object);
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  std::thread handler([&] {
    ASSERT_TRUE(live.enter(&object));
    inside = true;
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    left = true;
    live.leave(&object);
  });
  while (!inside) std::this_thread::yield();
  live.remove(&object);
  EXPECT_TRUE(left);
  handler.join();
}

TEST(LiveObjects, MemoryRestsUntilManyMoreHaveGone) {
  LiveObjects live;
  auto memory = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = memory;
  live.rest(std::move(memory));
  for (size_t i = 0; i + 1 < LiveObjects::kResting; ++i) live.rest(std::make_shared<int>(0));
  EXPECT_FALSE(watch.expired());
  live.rest(std::make_shared<int>(0));
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace uroce::device
