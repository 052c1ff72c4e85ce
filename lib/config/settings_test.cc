// SPDX-License-Identifier: BSD-3-Clause
// Ranges of settings, and what one setting demands of another.
#include "config/settings.h"

#include <gtest/gtest.h>

namespace uroce::config {
namespace {

TEST(Settings, DefaultsAreValid) { EXPECT_TRUE(validate(Settings{}).ok()); }

TEST(Settings, EachRangeIsHeldAtItsEdges) {
  Settings settings;
  PortSettings& port = settings.ports.emplace_back();
  port.name = "p";
  for (const uint32_t good : {1u, 16u}) {
    port.queue_count = good;
    EXPECT_TRUE(validate(settings).ok()) << good;
  }
  for (const uint32_t bad : {0u, 17u}) {
    port.queue_count = bad;
    EXPECT_FALSE(validate(settings).ok()) << bad;
  }
  port.queue_count = 1;
  port.mtu_bytes = 339;
  EXPECT_EQ(validate(settings).message(), "mtu of port p is 339: give a value from 340 to 9600");
}

TEST(Settings, ASharedPortTakesNoAddresses) {
  Settings settings;
  PortSettings& port = settings.ports.emplace_back();
  port.name = "p";
  port.ownership = Ownership::kShared;
  port.addresses.push_back(*parse_prefix("10.0.0.1/24"));
  EXPECT_FALSE(validate(settings).ok());
}

}  // namespace
}  // namespace uroce::config
