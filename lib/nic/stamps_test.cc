// SPDX-License-Identifier: BSD-3-Clause
// Receive times: the port's own where it stamped the frame, else that of the burst.
#include <gtest/gtest.h>

#include "nic/device_clock.h"
#include "nic/nic_test_ports.h"

namespace uroce::nic {
namespace {

constexpr Duration kSecond{1'000'000'000};

// The port counts two ticks a nanosecond, and the engines' clock stands where the test put it.
Time engine_time;
int read_ticks(uint16_t, uint64_t* ticks) {
  *ticks = 2 * static_cast<uint64_t>(engine_time.time_since_epoch().count());
  return 0;
}

// Port b receives by a queue that believes in stamps; what a sends is stamped as the test says.
class StampsTest : public RingPortsTest {
 protected:
  void SetUp() override {
    open();
    ASSERT_EQ(rte_mbuf_dyn_rx_timestamp_register(&stamps.field_offset, &stamps.flag), 0);
    stamps.clock = &clock;
    queue = std::make_unique<Queue>(QueueSettings{
        .port_id = b->id(), .pool = b->pool(), .frame_bytes_max = 4218, .stamps = stamps});
    engine_time = Time(kSecond);
  }
  void TearDown() override {
    queue->drain();
    RingPortsTest::TearDown();
  }
  void know_the_clock() {
    clock.calibrate();
    engine_time += kSecond;
    clock.calibrate();
  }
  // One frame, stamped at `stamped` unless that is kNever, and received at `burst`.
  ReceiveTime receive(Time stamped, Time burst) {
    const std::span<TxSlot> slots = a->queue(0).lend();
    fill(slots[0], 1);
    if (stamped != kNever) {
      stamp(slots[0], stamps, 2 * static_cast<uint64_t>(stamped.time_since_epoch().count()));
    }
    a->queue(0).submit(1);
    std::vector<RxFrame> frames(kBurst);
    EXPECT_EQ(queue->receive(burst, frames), 1u);
    queue->release({frames.data(), 1});
    return frames[0].receive_time();
  }

  DeviceClock clock{0, {read_ticks, [](void*) { return engine_time; }, nullptr}};
  StampSource stamps;
  std::unique_ptr<Queue> queue;
};

TEST_F(StampsTest, AStampedFrameHasThePortsTime) {
  know_the_clock();
  const ReceiveTime time = receive(engine_time + Duration(1500), engine_time + Duration(9000));
  EXPECT_TRUE(time.hardware);
  EXPECT_EQ(time.at, engine_time + Duration(1500));
}

TEST_F(StampsTest, AFrameWithoutAStampHasTheTimeOfTheBurst) {
  know_the_clock();
  const ReceiveTime time = receive(kNever, engine_time + Duration(9000));
  EXPECT_FALSE(time.hardware);
  EXPECT_EQ(time.at, engine_time + Duration(9000));
}

TEST_F(StampsTest, UntilTheClockIsKnownStampsMeanNothing) {
  const ReceiveTime time = receive(engine_time + Duration(1500), engine_time + Duration(9000));
  EXPECT_FALSE(time.hardware);
  EXPECT_EQ(time.at, engine_time + Duration(9000));
}

TEST_F(StampsTest, NothingArrivesAfterItWasTaken) {
  know_the_clock();
  const ReceiveTime time = receive(engine_time + Duration(9001), engine_time + Duration(9000));
  EXPECT_TRUE(time.hardware);
  EXPECT_EQ(time.at, engine_time + Duration(9000));
}

// The ring ports here have no such clock, and the port found that out by itself.
TEST_F(StampsTest, APortWithoutAClockBelievesInNoStamp) {
  const std::span<TxSlot> slots = a->queue(0).lend();
  fill(slots[0], 1);
  stamp(slots[0], stamps, 1);
  a->queue(0).submit(1);
  std::vector<RxFrame> frames(kBurst);
  b->calibrate_clock();
  ASSERT_EQ(b->queue(0).receive(engine_time, frames), 1u);
  b->queue(0).release({frames.data(), 1});
  EXPECT_FALSE(frames[0].stamped);
  EXPECT_EQ(frames[0].arrival, engine_time);
}

}  // namespace
}  // namespace uroce::nic
