// SPDX-License-Identifier: BSD-3-Clause
// The filter's steps on ports that refuse in every way: case 70.
#include "nic/multicast_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

namespace uroce::nic {
namespace {

using device::FilterKind;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A port whose answers the test chooses.
struct FakePort {
  int list_error = 0;         // of every set_list
  size_t list_capacity = 64;  // beyond it -ENOSPC
  int all_multicast_error = 0;
  int lists_handed = 0;  // calls of set_list
  std::vector<MacAddress> list;
  bool all_multicast = false;
  std::vector<std::string> log;
};
FakePort* port = nullptr;

const FilterCalls kFakeCalls = {.set_list =
                                    [](uint16_t, std::span<const MacAddress> macs) {
                                      ++port->lists_handed;
                                      if (port->list_error != 0) return port->list_error;
                                      if (macs.size() > port->list_capacity) return -ENOSPC;
                                      port->list.assign(macs.begin(), macs.end());
                                      return 0;
                                    },
                                .set_all_multicast =
                                    [](uint16_t, bool on) {
                                      if (port->all_multicast_error == 0) port->all_multicast = on;
                                      return port->all_multicast_error;
                                    }};

std::vector<MacAddress> group_macs(size_t count) {
  std::vector<MacAddress> macs;
  for (size_t i = 0; i < count; ++i) {
    macs.push_back({{0x01, 0x00, 0x5e, 1, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}});
  }
  return macs;
}

class MulticastFilterTest : public ::testing::Test {
 protected:
  MulticastFilterTest() { port = &fake; }
  FilterSettings settings(bool filters_nothing = false) {
    return {.port = "p",
            .filters_nothing = filters_nothing,
            .log = [](const std::string& line) { port->log.push_back(line); },
            .calls = &kFakeCalls};
  }
  FakePort fake;
};

// case 70
TEST_F(MulticastFilterTest, PortWithAListGetsExactlyTheSet) {
  MulticastFilter filter(settings());
  EXPECT_EQ(filter.set(group_macs(64)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kPortList);
  EXPECT_EQ(fake.list, group_macs(64));
  EXPECT_EQ(filter.set(group_macs(2)), 0);
  EXPECT_EQ(fake.list, group_macs(2));
  EXPECT_FALSE(fake.all_multicast);
  EXPECT_THAT(fake.log, SizeIs(0));
}

// case 70
TEST_F(MulticastFilterTest, FullListGoesToAllMulticastWithOneWarningAndBack) {
  MulticastFilter filter(settings());
  EXPECT_EQ(filter.set(group_macs(64)), 0);
  EXPECT_EQ(filter.set(group_macs(65)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kAllMulticast);
  EXPECT_TRUE(fake.all_multicast);
  EXPECT_THAT(fake.list, SizeIs(0));
  EXPECT_EQ(filter.set(group_macs(66)), 0);
  EXPECT_EQ(filter.set(group_macs(64)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kPortList);
  EXPECT_FALSE(fake.all_multicast);
  EXPECT_EQ(fake.list, group_macs(64));
  EXPECT_EQ(filter.set(group_macs(65)), 0);
  ASSERT_THAT(fake.log, SizeIs(1));
  EXPECT_THAT(fake.log[0], HasSubstr("port p:"));
}

// case 70
TEST_F(MulticastFilterTest, PortWithoutAListThatFiltersNothingNeedsNoStep) {
  fake.list_error = -ENOTSUP;
  MulticastFilter filter(settings(true));
  EXPECT_EQ(filter.set(group_macs(1000)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kNone);
  EXPECT_FALSE(fake.all_multicast);
}

// case 70
TEST_F(MulticastFilterTest, PortWithoutAListGoesAllMulticastOnlyWhileThereAreGroups) {
  fake.list_error = -ENOTSUP;
  MulticastFilter filter(settings());
  EXPECT_EQ(filter.set({}), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kAllMulticast);
  EXPECT_FALSE(fake.all_multicast);
  EXPECT_THAT(fake.log, SizeIs(0));
  EXPECT_EQ(filter.set(group_macs(1)), 0);
  EXPECT_TRUE(fake.all_multicast);
  EXPECT_EQ(filter.set({}), 0);
  EXPECT_FALSE(fake.all_multicast);
}

// case 70: with thousands of groups a change does not pay for the length of the set.
TEST_F(MulticastFilterTest, WhatTheListHasRefusedItIsNotHandedAgain) {
  MulticastFilter filter(settings());
  EXPECT_EQ(filter.set(group_macs(65)), 0);
  fake.lists_handed = 0;
  EXPECT_EQ(filter.set(group_macs(66)), 0);
  EXPECT_EQ(filter.set(group_macs(65)), 0);
  EXPECT_EQ(fake.lists_handed, 0);
  EXPECT_EQ(filter.kind(), FilterKind::kAllMulticast);
  EXPECT_EQ(filter.set(group_macs(64)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kPortList);
  fake.list_capacity = 65;  // somebody else's addresses have gone from it
  EXPECT_EQ(filter.set(group_macs(65)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kPortList);
  EXPECT_EQ(fake.list, group_macs(65));
}

// case 70
TEST_F(MulticastFilterTest, APortWithoutAListIsAskedOnce) {
  fake.list_error = -ENOTSUP;
  MulticastFilter filter(settings(true));
  for (const size_t count : {1u, 1000u, 999u, 0u, 1u}) {
    EXPECT_EQ(filter.set(group_macs(count)), 0);
    EXPECT_EQ(filter.kind(), FilterKind::kNone);
  }
  EXPECT_EQ(fake.lists_handed, 1);
}

// case 70
TEST_F(MulticastFilterTest, RealErrorIsReportedAndNothingElseIsTried) {
  fake.list_error = -EIO;
  MulticastFilter filter(settings());
  EXPECT_EQ(filter.set(group_macs(1)), -EIO);
  EXPECT_FALSE(fake.all_multicast);
  fake.list_error = -ENOTSUP;
  fake.all_multicast_error = -EIO;
  EXPECT_EQ(filter.set(group_macs(1)), -EIO);
}

// case 70
TEST_F(MulticastFilterTest, PortWithoutAnyMeansSaysSo) {
  fake.list_error = -ENOTSUP;
  fake.all_multicast_error = -ENOTSUP;
  MulticastFilter filter(settings());
  EXPECT_EQ(filter.set(group_macs(1)), -ENOTSUP);
}

// case 70
TEST_F(MulticastFilterTest, FullListOfAPortThatFiltersNothingWarnsNobody) {
  fake.list_capacity = 4;
  MulticastFilter filter(settings(true));
  EXPECT_EQ(filter.set(group_macs(5)), 0);
  EXPECT_EQ(filter.kind(), FilterKind::kNone);
  EXPECT_THAT(fake.log, SizeIs(0));
}

}  // namespace
}  // namespace uroce::nic
