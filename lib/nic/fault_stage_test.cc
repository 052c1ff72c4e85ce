// SPDX-License-Identifier: BSD-3-Clause
// Faults over a ring pair: rates, repetition by seed, delay, order, and mbufs that come home.
#include "nic/fault_stage.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "nic/nic_test_ports.h"

namespace uroce::nic {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FaultTest : public RingPortsTest {
 protected:
  void open_with(const std::string& text) {
    PortConfig config;
    config.faults = *parse_fault_plan(text);
    open(config);
  }
  // Bursts of 10 until `count` frames went from a to b, one burst every 10 µs; what b saw.
  std::vector<int> run(uint32_t count) {
    std::vector<int> seen;
    Time now{};
    for (uint32_t sent = 0; sent < count + 300; sent += 10) {
      if (sent < count) {
        EXPECT_TRUE(send(a->queue(0), 10, static_cast<uint8_t>(sent)));
      }
      for (int tag : receive_tags(b->queue(0), now)) seen.push_back(tag);
      now += std::chrono::microseconds(10);
    }
    return seen;
  }
  void reopen_with(const std::string& text) {
    TearDown();
    a.reset();
    b.reset();
    rings = RingPairs();
    open_with(text);
  }
};

TEST_F(FaultTest, LossAndDuplicationKeepTheirRates) {
  open_with("loss=0.1,dup=0.05,seed=3");
  const size_t seen = run(10'000).size();
  const FaultCounters& faults = *b->queue(0).fault_counters();
  EXPECT_NEAR(static_cast<double>(faults.lost.value()), 1'000, 150);
  EXPECT_NEAR(static_cast<double>(faults.duplicated.value()), 450, 100);
  EXPECT_EQ(seen, 10'000 - faults.lost.value() + faults.duplicated.value());
  EXPECT_EQ(faults.overflow.value(), 0u);
}

TEST_F(FaultTest, SameSeedRepeatsAndAnotherDoesNot) {
  const std::string plan = "loss=0.05,dup=0.05,reorder=0.1,corrupt=0.05,delay=25us,seed=";
  open_with(plan + "11");
  const std::vector<int> first = run(2'000);
  reopen_with(plan + "11");
  EXPECT_EQ(run(2'000), first);
  reopen_with(plan + "12");
  EXPECT_NE(run(2'000), first);
}

TEST_F(FaultTest, DelayHoldsFramesForThatLongAndKeepsTheirOrder) {
  open_with("delay=20us");
  ASSERT_TRUE(send(a->queue(0), 3, 1));
  EXPECT_THAT(receive_tags(b->queue(0), Time{Duration{0}}), IsEmpty());
  EXPECT_THAT(receive_tags(b->queue(0), Time{Duration{19'999}}), IsEmpty());
  EXPECT_THAT(receive_tags(b->queue(0), Time{Duration{20'000}}), ElementsAre(1, 2, 3));
}

TEST_F(FaultTest, ReorderedFramesComeLaterAndNoneIsLost) {
  open_with("reorder=0.2,seed=5");
  std::vector<int> seen = run(250);
  EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), 250u);
  for (int i = 0; i < 250; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST_F(FaultTest, LoneReorderedFrameComesThroughAfterAWhile) {
  open_with("reorder=1");
  ASSERT_TRUE(send(a->queue(0), 1, 1));
  EXPECT_THAT(receive_tags(b->queue(0), Time{}), IsEmpty());
  EXPECT_THAT(receive_tags(b->queue(0), Time{Duration{200'000}}), ElementsAre(1));
}

TEST_F(FaultTest, CorruptFlipsOneBitAndSparesWhoSharesTheFrame) {
  open_with("corrupt=1,seed=9");
  ASSERT_TRUE(send(a->queue(0), 8, 1, Route::kBoth));
  std::vector<RxFrame> here(kBurst);
  std::vector<RxFrame> there(kBurst);
  ASSERT_EQ(a->queue(0).receive(Time{}, here), 8u);
  ASSERT_EQ(b->queue(0).receive(Time{}, there), 8u);
  for (size_t i = 0; i < 8; ++i) {
    int bits = 0;
    for (uint32_t j = 0; j < 64; ++j) {
      bits += __builtin_popcount(static_cast<unsigned>(here[i].bytes[j] ^ there[i].bytes[j]));
    }
    EXPECT_EQ(bits, 1);
    EXPECT_EQ(here[i].bytes[63], i + 1);
  }
  a->queue(0).release({here.data(), 8});
  b->queue(0).release({there.data(), 8});
}

TEST_F(FaultTest, HoldsABoundedNumberAndCountsTheRest) {
  open_with("delay=1000ms");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(send(a->queue(0), 32, 0));
    EXPECT_THAT(receive_tags(b->queue(0), Time{}), IsEmpty());
  }
  EXPECT_EQ(b->queue(0).fault_counters()->overflow.value(), 640 - kFaultHeldMax);
}

TEST_F(FaultTest, OffMeansNoStageAtAll) {
  open_with("seed=4");
  EXPECT_EQ(b->queue(0).fault_counters(), nullptr);
}

}  // namespace
}  // namespace uroce::nic
