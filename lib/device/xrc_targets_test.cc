// SPDX-License-Identifier: BSD-3-Clause
// Tests of who has a target queue pair open.
#include "device/xrc_targets.h"

#include <gtest/gtest.h>

namespace uroce::device {
namespace {

struct End {
  int told = 0;
};

class XrcTargetsTest : public testing::Test {
 protected:
  XrcTargetsTest() {
    for (End* end : {&first_, &second_}) LiveObjects::instance().add(end);
    targets_.add(7, target_, first_);
  }
  ~XrcTargetsTest() override {
    for (End* end : {&first_, &second_}) LiveObjects::instance().remove(end);
  }
  int open(uint32_t number) {
    return targets_.open(number, [this](End& real) -> End& {
      EXPECT_EQ(&real, &target_);
      return second_;
    });
  }
  void tell(uint32_t number) {
    targets_.tell(number, [](End& handle) { ++handle.told; });
  }

  XrcTargets<End> targets_;
  End target_, first_, second_;
};

TEST_F(XrcTargetsTest, TellsAllWhoHaveItOpenAndNobodyElse) {
  tell(7);
  EXPECT_EQ(open(7), 0);
  tell(7);
  tell(8);
  EXPECT_EQ(first_.told, 2);
  EXPECT_EQ(second_.told, 1);
  LiveObjects::instance().remove(&first_);
  tell(7);
  EXPECT_EQ(first_.told, 2) << "it has gone";
  EXPECT_EQ(second_.told, 2);
  LiveObjects::instance().add(&first_);
}

TEST_F(XrcTargetsTest, TheLastOneToCloseEndsIt) {
  End* ends = &first_;
  ASSERT_EQ(open(7), 0);
  EXPECT_EQ(targets_.close(7, first_, ends), 0);
  EXPECT_EQ(ends, nullptr);
  EXPECT_EQ(targets_.close(7, second_, ends), 0);
  EXPECT_EQ(ends, &target_);
  EXPECT_EQ(open(7), -EINVAL) << "it is being ended";
  EXPECT_EQ(targets_.close(7, second_, ends), -EBUSY);
  targets_.ended(7);
  EXPECT_EQ(open(7), -EINVAL);
}

TEST_F(XrcTargetsTest, AnEndThatFailsLeavesItOpen) {
  End* ends = nullptr;
  ASSERT_EQ(targets_.close(7, first_, ends), 0);
  targets_.add(7, target_, first_);
  EXPECT_EQ(open(7), 0);
  EXPECT_EQ(targets_.close(7, second_, ends), 0);
  EXPECT_EQ(ends, nullptr);
}

}  // namespace
}  // namespace uroce::device
