// SPDX-License-Identifier: BSD-3-Clause
// When the progress thread sleeps, and for how long, in simulated time.
#include "ibverbs/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace uroce::ibverbs {
namespace {

constexpr Duration us(int64_t n) { return Duration(n * 1000); }

constexpr Duration kFar = Duration::max();
constexpr Pace kPace{us(10), us(100)};

TEST(Pace, LooksAgainAtOnceWhileThePacketsAreFresh) {
  EXPECT_EQ(kPace.pause(us(0), false, kFar), us(0));
  EXPECT_EQ(kPace.pause(us(9), false, kFar), us(0));
  EXPECT_EQ(kPace.pause(us(10), false, kFar), us(20));
}

TEST(Pace, SleepsLongerTheLongerNothingCame) {
  EXPECT_EQ(kPace.pause(us(400), false, kFar), us(50));
  EXPECT_EQ(kPace.pause(us(800), false, kFar), us(100));
  EXPECT_EQ(kPace.pause(us(60'000'000), false, kFar), us(100));
}

TEST(Pace, LeavesThePacketsToAPollerThatIsAtIt) {
  EXPECT_EQ(kPace.pause(us(0), true, kFar), us(20));
  EXPECT_EQ(kPace.pause(us(8000), true, kFar), us(100));
}

TEST(Pace, WakesForATimerAndNeverSleepsPastOne) {
  EXPECT_EQ(kPace.pause(us(800), false, us(3)), us(3));
  EXPECT_EQ(kPace.pause(us(800), false, us(0)), us(0));
  EXPECT_EQ(kPace.pause(us(800), false, us(-5)), us(0));
}

TEST(Pace, ALongestSleepBelowTheShortestWins) {
  const Pace pace{us(0), us(5)};
  EXPECT_EQ(pace.pause(us(0), false, kFar), us(5));
}

// Engines in simulated time: a turn takes 1 us.
class Engines : public Driver {
 public:
  Time now() const override { return now_; }
  uint32_t drive(Time& next) override {
    now_ += us(1);
    ++turns_;
    const auto due = [&](Time at) { return at <= now_; };
    const auto count = std::erase_if(packets, due);
    if (due(timer)) {
      fired.push_back(now_);
      timer = kNever;
    }
    next = timer;
    return static_cast<uint32_t>(count);
  }
  uint64_t turns() const override { return turns_; }
  void sleep(Duration length) override {
    now_ += length;
    slept += length;
    turns_ += poller ? 1 : 0;
  }

  std::vector<Time> packets;
  Time timer = kNever;
  std::vector<Time> fired;
  Duration slept{};
  bool poller = false;

 private:
  Time now_{};
  uint64_t turns_ = 0;
};

TEST(Progress, IsAwakeUnderLoadAndAsleepWithoutOne) {
  Engines engines;
  Progress progress(engines, kPace);
  for (int i = 0; i < 1000; ++i) engines.packets.push_back(Time{us(5 * i)});
  while (!engines.packets.empty()) progress.step();
  EXPECT_EQ(engines.slept, us(0));
  const Time begin = engines.now();
  while (engines.now() - begin < us(100'000)) progress.step();
  EXPECT_GT(engines.slept, us(95'000));
}

TEST(Progress, FiresATimerWithinOneTurnOfItsTimeThoughNothingElseHappens) {
  Engines engines;
  Progress progress(engines, kPace);
  while (engines.now() < Time{us(10'000)}) progress.step();
  const Time due = engines.now() + us(1'733);
  engines.timer = due;
  progress.step();  // the engines say it in the next look
  while (engines.fired.empty()) progress.step();
  EXPECT_LE(engines.fired[0] - due, us(1));
}

TEST(Progress, LeavesACpuToThePollerThatDrives) {
  Engines engines;
  engines.poller = true;
  Progress progress(engines, kPace);
  while (engines.now() < Time{us(100'000)}) progress.step();
  EXPECT_GT(engines.slept, us(95'000));
}

}  // namespace
}  // namespace uroce::ibverbs
