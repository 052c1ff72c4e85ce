// SPDX-License-Identifier: BSD-3-Clause
// The timer wheel against a sorted map, and the stories that its users rely on.
#include "engine/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"

namespace uroce::engine {
namespace {

using std::chrono::microseconds;
using transport::QpContext;

constexpr Duration kTick{TimerWheel::kTickNs};

Time at(int64_t ns) { return Time(Duration(ns)); }

std::vector<QpContext*> pop_all(TimerWheel& wheel, Time now) {
  std::vector<QpContext*> due;
  while (QpContext* qp = wheel.pop_due(now)) due.push_back(qp);
  return due;
}

TEST(TimerWheel, AnEmptyWheelNeverExpires) {
  TimerWheel wheel;
  EXPECT_EQ(wheel.next_expiry(), kNever);
  EXPECT_EQ(wheel.pop_due(at(1'000'000'000)), nullptr);
  QpContext qp;
  wheel.arm(qp, kNever, at(0));
  EXPECT_EQ(wheel.next_expiry(), kNever);
}

// RNR code 1 asks for 10 us: the error stays below 2 us, and is never early.
TEST(TimerWheel, TenMicrosecondsAreKeptWithinTwo) {
  TimerWheel wheel;
  QpContext qp;
  const Time now = at(5'000'123);
  const Time deadline = now + microseconds(10);
  wheel.arm(qp, deadline, now);
  EXPECT_EQ(wheel.pop_due(deadline - Duration(1)), nullptr);
  EXPECT_EQ(wheel.pop_due(deadline + microseconds(2)), &qp);
  EXPECT_EQ(qp.timer_armed_for, kNever);
}

// The code 31 timeout is 2.4 hours; the end of time is further still. Neither is cut.
TEST(TimerWheel, FarTimersCascadeAndComeOutOnTime) {
  TimerWheel wheel;
  QpContext hours;
  QpContext end;
  const Time far = at(0) + Duration(int64_t{4096} << 31);
  wheel.arm(hours, far, at(0));
  wheel.arm(end, kNever - Duration(1), at(0));
  Time now = at(0);
  int wakeups = 0;
  while (hours.timer_armed_for != kNever) {
    ASSERT_LE(wheel.next_expiry(), far + kTick);
    now = std::max(now, wheel.next_expiry());
    pop_all(wheel, now);
    ASSERT_LT(++wakeups, 12) << "one wake-up per level";
  }
  EXPECT_GE(now, far);
  EXPECT_LT(now, far + kTick);
  EXPECT_NE(end.timer_armed_for, kNever);
  EXPECT_GT(wheel.next_expiry(), now) << "no overflow at the end of time";
}

TEST(TimerWheel, ALaterDeadlineDoesNotMoveAnEntryAndAnEarlierDoes) {
  TimerWheel wheel;
  QpContext qp;
  wheel.arm(qp, at(50'000), at(0));
  wheel.arm(qp, at(90'000), at(0));
  EXPECT_EQ(qp.timer_armed_for, at(50'000));
  wheel.arm(qp, at(20'000), at(0));
  EXPECT_EQ(qp.timer_armed_for, at(20'000));
  EXPECT_EQ(wheel.pop_due(at(22'000)), &qp);
  EXPECT_EQ(wheel.pop_due(at(100'000)), nullptr) << "the old place is empty";
}

// A queue pair whose deadline has passed is handed out once per turn, not for ever.
TEST(TimerWheel, ADeadlineInThePastComesOutAtTheNextTick) {
  TimerWheel wheel;
  QpContext qp;
  const Time now = at(10'000'000);
  EXPECT_EQ(wheel.pop_due(now), nullptr);
  wheel.arm(qp, at(1'000), now);
  EXPECT_EQ(wheel.pop_due(now), nullptr);
  EXPECT_LE(wheel.next_expiry(), now + kTick);
  EXPECT_EQ(wheel.pop_due(now + kTick), &qp);
}

TEST(TimerWheel, CancelTakesOutOfTheMiddleOfABucket) {
  TimerWheel wheel;
  QpContext qps[3];
  for (QpContext& qp : qps) wheel.arm(qp, at(1'000'000), at(0));
  wheel.cancel(qps[1]);
  wheel.cancel(qps[1]);
  const std::vector<QpContext*> due = pop_all(wheel, at(1'100'000));
  EXPECT_EQ(due.size(), 2u);
  EXPECT_EQ(std::count(due.begin(), due.end(), &qps[1]), 0);
  EXPECT_EQ(wheel.next_expiry(), kNever);
}

TEST(TimerWheel, ForEachSeesEveryEntryOnce) {
  TimerWheel wheel;
  QpContext qps[40];
  int64_t delay = 3'000;
  for (QpContext& qp : qps) wheel.arm(qp, at(delay = delay * 3 / 2), at(0));
  std::map<QpContext*, int> seen;
  wheel.for_each([&](QpContext& qp) { ++seen[&qp]; });
  EXPECT_EQ(seen.size(), 40u);
  for (const auto& [qp, times] : seen) EXPECT_EQ(times, 1);
}

// The model keeps exact deadlines; the wheel must give out exactly those, each within one tick, and
// next_expiry() must not be later than any of them.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed), qps_(std::make_unique<QpContext[]>(kQps)) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      QpContext& qp = qps_[random_.below(kQps)];
      switch (random_.below(4)) {
        case 0:
        case 1:
          arm(qp);
          break;
        case 2:
          wheel_.cancel(qp);
          deadlines_.erase(&qp);
          break;
        default:
          advance();
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  static constexpr uint32_t kQps = 200;

  // Delays of every magnitude up to about an hour.
  int64_t some_delay() {
    return static_cast<int64_t>(random_.below(uint64_t{1} << (4 + random_.below(38))));
  }

  void arm(QpContext& qp) {
    const Time deadline = now_ + Duration(some_delay() - 8);
    wheel_.arm(qp, deadline, now_);
    const auto known = deadlines_.find(&qp);
    if (known != deadlines_.end() && known->second <= deadline) return;
    deadlines_[&qp] = deadline;
  }

  void advance() {
    Time first = kNever;
    for (const auto& [qp, deadline] : deadlines_) first = std::min(first, deadline);
    const Time expiry = wheel_.next_expiry();
    if (deadlines_.empty()) {
      ASSERT_EQ(expiry, kNever);
    } else {
      ASSERT_LE(expiry, std::max(first, now_) + 2 * kTick);
    }
    now_ += Duration(random_.below(3) == 0 && expiry != kNever && expiry > now_
                         ? (expiry - now_).count()
                         : some_delay());
    while (QpContext* qp = wheel_.pop_due(now_)) {
      ASSERT_EQ(deadlines_.count(qp), 1u);
      ASSERT_LE(deadlines_[qp], now_) << "early";
      deadlines_.erase(qp);
    }
    for (const auto& [qp, deadline] : deadlines_) ASSERT_GT(deadline, now_ - 2 * kTick) << "late";
  }

  Random random_;
  Time now_ = at(77);
  std::unique_ptr<QpContext[]> qps_;
  TimerWheel wheel_;
  std::map<QpContext*, Time> deadlines_;
};

TEST(TimerWheel, AgreesWithASortedMap) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Model(seed).run(20'000);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace uroce::engine
