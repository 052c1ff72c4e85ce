// SPDX-License-Identifier: BSD-3-Clause
// Tests of events behind a file descriptor: its count, waiting, purging, with real threads.
#include "ibverbs/event_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

namespace uroce::ibverbs {
namespace {

bool readable(int fd) {
  pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&poll_fd, 1, 0) == 1;
}

class EventQueueTest : public testing::Test {
 protected:
  // A positive number that was queued, or a negative errno.
  int take() {
    int record = 0;
    const int error = queue_.take(record, [this](int) { ++taken_; });
    return error != 0 ? -error : record;
  }
  void purge(int which) {
    queue_.purge([which](int record) { return record == which; });
  }
  void never_wait() { ASSERT_EQ(fcntl(queue_.fd(), F_SETFL, O_NONBLOCK), 0); }

  EventQueue<int> queue_;
  int taken_ = 0;
};

TEST_F(EventQueueTest, TheDescriptorIsReadableWhileAnEventWaitsAndTheyComeInOrder) {
  never_wait();
  EXPECT_EQ(fcntl(queue_.fd(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(readable(queue_.fd()));
  EXPECT_EQ(take(), -EAGAIN);
  queue_.push(1);
  queue_.push(2);
  EXPECT_TRUE(readable(queue_.fd()));
  EXPECT_EQ(take(), 1);
  EXPECT_TRUE(readable(queue_.fd()));
  EXPECT_EQ(take(), 2);
  EXPECT_FALSE(readable(queue_.fd()));
  EXPECT_EQ(take(), -EAGAIN);
  EXPECT_EQ(taken_, 2);
}

TEST_F(EventQueueTest, APurgedEventIsNeitherCountedNorTaken) {
  never_wait();
  for (const int record : {1, 2, 1, 1}) queue_.push(record);
  purge(1);
  EXPECT_EQ(take(), 2);
  EXPECT_FALSE(readable(queue_.fd()));
  queue_.push(1);
  purge(1);
  EXPECT_FALSE(readable(queue_.fd()));
  EXPECT_EQ(take(), -EAGAIN);
}

TEST_F(EventQueueTest, PurgingDoesNotWaitForACountThatSomebodyHoldsNorLeaveItBehind) {
  queue_.push(1);
  // Stands for a thread that has read the descriptor and is on its way to the queue.
  uint64_t count = 0;
  ASSERT_EQ(read(queue_.fd(), &count, sizeof count), 8);
  purge(1);  // returns, though the descriptor blocks and has nothing
  queue_.push(2);
  queue_.push(3);
  never_wait();
  EXPECT_EQ(take(), 2) << "one count was void: the next one is this event's";
  EXPECT_FALSE(readable(queue_.fd())) << "the other thread has the count of the last one";
}

TEST_F(EventQueueTest, ATakerWaitsForTheNextEvent) {
  std::thread taker([this] { EXPECT_EQ(take(), 7); });
  queue_.push(7);
  taker.join();
}

// Every event that is not purged is taken once, none that was purged before it was taken, and in
// the end the descriptor counts nothing.
TEST_F(EventQueueTest, TakersAndPurgersNeverLoseOrGainAnEvent) {
  constexpr int kTakers = 3;
  constexpr int kRounds = 20'000;
  enum : int { kEnd = 1, kKept = 2, kPurged = 3 };
  std::atomic<int> kept{0};
  std::vector<std::thread> takers;
  takers.reserve(kTakers);
  for (int i = 0; i < kTakers; ++i) {
    takers.emplace_back([this, &kept] {
      for (int record = 0; record != kEnd;) {
        ASSERT_EQ(queue_.take(record, [](int) {}), 0);
        if (record == kKept) ++kept;
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    queue_.push(kPurged);
    queue_.push(kKept);
    queue_.push(kPurged);
    purge(kPurged);
  }
  for (int i = 0; i < kTakers; ++i) queue_.push(kEnd);
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(kept, kRounds);
  EXPECT_FALSE(readable(queue_.fd()));
  never_wait();
  EXPECT_EQ(take(), -EAGAIN);
}

}  // namespace
}  // namespace uroce::ibverbs
