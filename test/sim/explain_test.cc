// SPDX-License-Identifier: BSD-3-Clause
// What is said of a run that failed comes before the files that it leaves.
#include "test/sim/explain.h"

#include <gtest/gtest.h>

namespace uroce::sim {
namespace {

// No queue pair takes a timeout of 40: the plan fails, whatever its steps.
Plan failing_plan() {
  Plan plan = draw_plan(1);
  plan.steps.resize(8);
  plan.channels.resize(1);
  plan.channels[0].type = IB_QPT_RC;
  plan.channels[0].timeout = 40;
  return plan;
}

TEST(Explain, ACaptureThatFailsCostsNothingElse) {
  const Plan plan = failing_plan();
  testing::internal::CaptureStdout();
  explain(plan, run_plan(plan).checker, 100, "/nonexistent/x.pcap");
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_NE(said.find("shrunk to 0 steps"), std::string::npos) << said;
  EXPECT_NE(said.find("repeat it with: uroce-sim --seed 1 --steps none\n"), std::string::npos)
      << said;
  const size_t named = said.find("/nonexistent/x.pcap");
  EXPECT_NE(named, std::string::npos) << said;
  EXPECT_EQ(said.find("/nonexistent/x.pcap", named + 1), std::string::npos) << said;
}

TEST(Explain, WhatWasNotShrunkIsNotCalledSo) {
  const Plan plan = failing_plan();
  testing::internal::CaptureStdout();
  explain(plan, run_plan(plan).checker, 0, "/nonexistent/x.pcap");
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(said.find("shrunk to"), std::string::npos) << said;
  EXPECT_NE(said.find("--steps 0-7\n"), std::string::npos) << said;
}

}  // namespace
}  // namespace uroce::sim
