// SPDX-License-Identifier: BSD-3-Clause
// A port's clock in engine time: drift, readings that were held up, clocks that are set.
#include "nic/device_clock.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace uroce::nic {
namespace {

// 156.25 MHz, 30 millionths fast, and far from the engines' zero.
constexpr double kHz = 156'250'000 * 1.00003;
constexpr uint64_t kOrigin = 0x1234'5678'9ABC;
constexpr Duration kSecond{1'000'000'000};

// Reading the device takes `width` and finds the ticks of its middle.
struct FakeClocks {
  Time now{Duration{5'000'000'000}};
  Duration width{800};
  Duration stalls{0};  // before the device answers, of all readings but every eighth
  int readings = 0;
  int64_t set_ticks = 0;
  int error = 0;

  uint64_t ticks_at(Time time) const {
    const auto ns = static_cast<double>(time.time_since_epoch().count());
    return kOrigin + static_cast<uint64_t>(ns * kHz / 1e9) + static_cast<uint64_t>(set_ticks);
  }
};
FakeClocks* clocks = nullptr;

int read_ticks(uint16_t, uint64_t* ticks) {
  if (++clocks->readings % 8 != 3) clocks->now += clocks->stalls;
  clocks->now += clocks->width / 2;
  *ticks = clocks->ticks_at(clocks->now);
  clocks->now += clocks->width / 2;
  return clocks->error;
}

class DeviceClockTest : public ::testing::Test {
 protected:
  DeviceClockTest() { clocks = &fake; }

  ClockLine line() const {
    ClockLine found;
    clock.read(found);
    return found;
  }
  void calibrate_after(Duration duration) {
    fake.now += duration;
    clock.calibrate();
  }
  // How far a stamp that is made now lies beside the engines' clock.
  int64_t error_ns() const { return (line().time_of(fake.ticks_at(fake.now)) - fake.now).count(); }

  FakeClocks fake;
  DeviceClock clock{
      0, {read_ticks, [](void* self) { return static_cast<FakeClocks*>(self)->now; }, &fake}};
};

TEST_F(DeviceClockTest, TwoReadingsTellWhatAStampMeans) {
  EXPECT_FALSE(line().known());
  clock.calibrate();
  EXPECT_FALSE(line().known()) << "one reading gives no length of a tick";
  calibrate_after(kSecond / 2);
  EXPECT_FALSE(line().known()) << "half a second is too short to measure it";
  calibrate_after(kSecond);
  ASSERT_TRUE(line().known());
  EXPECT_NEAR(static_cast<double>(error_ns()), 0, 100);
  fake.now += kSecond;
  EXPECT_NEAR(static_cast<double>(error_ns()), 0, 100);
}

TEST_F(DeviceClockTest, StampsFromBeforeTheReadingAreRightToo) {
  clock.calibrate();
  const Time before = fake.now + kSecond / 4;
  const uint64_t stamp = fake.ticks_at(before);
  calibrate_after(kSecond);
  EXPECT_NEAR(static_cast<double>((line().time_of(stamp) - before).count()), 0, 100);
}

TEST_F(DeviceClockTest, OfAllReadingsTheOneThatWasNotHeldUpCounts) {
  clock.calibrate();
  fake.stalls = Duration{3'000'000};
  calibrate_after(kSecond);
  EXPECT_NEAR(static_cast<double>(error_ns()), 0, 100);
}

TEST_F(DeviceClockTest, AClockThatWasSetIsNotKnownUntilItHasRunOn) {
  clock.calibrate();
  calibrate_after(kSecond);
  ASSERT_TRUE(line().known());
  for (const int64_t leap : {int64_t{1'000'000'000}, int64_t{-1'000'000'000}}) {
    fake.set_ticks += leap;
    calibrate_after(kSecond);
    EXPECT_FALSE(line().known()) << leap;
    calibrate_after(kSecond);
    ASSERT_TRUE(line().known()) << leap;
    EXPECT_NEAR(static_cast<double>(error_ns()), 0, 100) << leap;
  }
}

TEST_F(DeviceClockTest, AReadingThatFailsChangesNothing) {
  clock.calibrate();
  calibrate_after(kSecond);
  const ClockLine before = line();
  fake.error = -EIO;
  calibrate_after(kSecond);
  EXPECT_EQ(line().ticks, before.ticks);
  EXPECT_EQ(line().slope, before.slope);
}

}  // namespace
}  // namespace uroce::nic
