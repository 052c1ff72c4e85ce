// SPDX-License-Identifier: BSD-3-Clause
// Events that wait: order, coalescing, taking back, and that none is lost.
#include "transport/event_list.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace uroce::transport {
namespace {

class EventListTest : public ::testing::Test {
 protected:
  using Taken = std::vector<std::pair<EventType, void*>>;
  void raise(int i, EventType type) { list.raise(sources[i], type, &objects[i]); }
  Taken take_all() {
    Taken taken;
    Event event{};
    while (list.take(event)) taken.emplace_back(event.type, event.object);
    EXPECT_TRUE(list.empty());
    return taken;
  }

  EventList list;
  EventSource sources[3];
  int objects[3] = {};
};

TEST_F(EventListTest, ObjectsComeInTheOrderOfTheirFirstEvent) {
  raise(1, EventType::kCommEst);
  raise(0, EventType::kQpFatal);
  raise(1, EventType::kQpReqErr);
  EXPECT_EQ(take_all(), (Taken{{EventType::kQpReqErr, &objects[1]},
                               {EventType::kCommEst, &objects[1]},
                               {EventType::kQpFatal, &objects[0]}}));
}

TEST_F(EventListTest, TheSameEventTwiceIsToldOnceUntilItWasFetched) {
  for (int i = 0; i < 5000; ++i) raise(0, EventType::kCompletion);
  EXPECT_EQ(take_all(), (Taken{{EventType::kCompletion, &objects[0]}}));
  raise(0, EventType::kCompletion);
  EXPECT_EQ(take_all().size(), 1u);
}

// However many completions wait, what happens once has its place.
TEST_F(EventListTest, AsynchronousEventsAreNeverLost) {
  std::vector<EventSource> many(10'000);
  for (EventSource& source : many) list.raise(source, EventType::kCompletion, &source);
  raise(0, EventType::kCqErr);
  raise(2, EventType::kQpLastWqeReached);
  const Taken taken = take_all();
  ASSERT_EQ(taken.size(), many.size() + 2);
  EXPECT_EQ(taken[many.size()], std::pair(EventType::kCqErr, static_cast<void*>(&objects[0])));
  EXPECT_EQ(taken.back().first, EventType::kQpLastWqeReached);
}

TEST_F(EventListTest, ForgottenObjectLeavesTheOthersInOrder) {
  for (int gone = 0; gone < 3; ++gone) {
    for (int i = 0; i < 3; ++i) raise(i, EventType::kQpFatal);
    list.forget(sources[gone]);
    list.forget(sources[gone]);
    const Taken taken = take_all();
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(taken[0].second, &objects[gone == 0 ? 1 : 0]);
    EXPECT_EQ(taken[1].second, &objects[gone == 2 ? 1 : 2]);
  }
  raise(1, EventType::kCommEst);
  list.forget(sources[1]);
  EXPECT_TRUE(list.empty());
  raise(1, EventType::kCommEst);
  EXPECT_EQ(take_all().size(), 1u);
}

TEST_F(EventListTest, NotesAreKeptByValueUpToALimit) {
  GaveUp note;
  int kept = 0;
  while (kept < 1000 && list.note(note)) ++kept;
  EXPECT_EQ(kept, 64);
  Event event{};
  ASSERT_TRUE(list.take(event));
  EXPECT_EQ(event.type, EventType::kGaveUp);
  note.qpn = Qpn(7);
  EXPECT_TRUE(list.note(note));
  while (list.take(event)) {
  }
  EXPECT_EQ(event.gave_up.qpn, Qpn(7));
}

}  // namespace
}  // namespace uroce::transport
