// SPDX-License-Identifier: BSD-3-Clause
// The fault option's text: every part is read, every mistake gets one line that helps.
#include "nic/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace uroce::nic {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FaultPlan, ReadsEveryPartInAnyOrder) {
  const auto plan = parse_fault_plan("seed=7,delay=20us,corrupt=1,reorder=0.5,dup=0.25,loss=0.01");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_DOUBLE_EQ(plan->loss, 0.01);
  EXPECT_DOUBLE_EQ(plan->duplicate, 0.25);
  EXPECT_DOUBLE_EQ(plan->reorder, 0.5);
  EXPECT_DOUBLE_EQ(plan->corrupt, 1);
  EXPECT_EQ(plan->delay, Duration{20'000});
  EXPECT_EQ(plan->seed, 7u);
  EXPECT_TRUE(plan->any());
}

TEST(FaultPlan, EmptyTextAndSeedAloneAreNoFaults) {
  ASSERT_TRUE(parse_fault_plan("").ok());
  EXPECT_FALSE(parse_fault_plan("")->any());
  ASSERT_TRUE(parse_fault_plan("seed=3").ok());
  EXPECT_FALSE(parse_fault_plan("seed=3")->any());
}

TEST(FaultPlan, DelayTakesItsUnitAndHasALimit) {
  EXPECT_EQ(parse_fault_plan("delay=5ns")->delay, Duration{5});
  EXPECT_EQ(parse_fault_plan("delay=1000ms")->delay, kFaultDelayMax);
  for (const char* text : {"delay=20", "delay=us", "delay=-1us", "delay=1001ms", "delay=2s"}) {
    const auto plan = parse_fault_plan(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(std::string(plan.status().message()), AllOf(HasSubstr(text), HasSubstr("ms")));
  }
}

TEST(FaultPlan, EachMistakeIsNamedInOneLine) {
  for (const char* text : {"loss=2", "loss=", "loss", "dup=-0.1", "reorder=nan", "corrupt=x",
                           "seed=-1", "speed=1", "loss=0.1,,dup=0.1", ","}) {
    const auto plan = parse_fault_plan(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(std::string(plan.status().message()),
                AllOf(HasSubstr("fault '"), Not(HasSubstr("\n"))));
  }
}

TEST(FaultPlan, AMistakeIsRepeatedShort) {
  const auto plan = parse_fault_plan("speed=\n" + std::string(3'000'000, 'a'));
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("fault 'speed=\\naaa"));
  EXPECT_LT(plan.status().message().size(), 200u);
}

}  // namespace
}  // namespace uroce::nic
