// SPDX-License-Identifier: BSD-3-Clause
// Two variables become settings, or one sentence.
#include "ibverbs/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/address_text.h"
#include "config/driver_keys.h"

namespace uroce::ibverbs {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& config, const std::string& options) {
  return std::string(read_settings(config, options).status().message());
}

TEST(Environment, NothingIsNoPortAndNoError) {
  const auto settings = read_settings("", "");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_TRUE(settings->ports.empty());
  EXPECT_EQ(settings->mode, config::DriveMode::kShared);
}

TEST(Environment, OptionsAreWordsAndCompleted) {
  const auto settings =
      read_settings("", "  --port net_af_packet,iface=lo \t--sleep-us 50\n--log-level info ");
  ASSERT_TRUE(settings.ok()) << settings.status();
  ASSERT_EQ(settings->ports.size(), 1u);
  EXPECT_EQ(config::driver_value(settings->ports[0], "framesz"), "8192");
  EXPECT_EQ(settings->sleep_us, 50u);
  EXPECT_EQ(settings->log_level, "info");
}

TEST(Environment, MemifHasItsMacBeforeItRuns) {
  const std::string options = "--port net_memif,socket=/tmp/m,address=10.0.0.1/24";
  const auto first = read_settings("", options);
  const auto second = read_settings("", options);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto mac = parse_mac(config::driver_value(first->ports.at(0), "mac").value_or(""));
  ASSERT_TRUE(mac.has_value());
  EXPECT_EQ(mac->bytes[0], 0x02);
  EXPECT_NE(first->ports[0].driver_arguments, second->ports.at(0).driver_arguments);
  const auto given = read_settings("", options + ",mac=02:00:00:00:00:07");
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(config::driver_value(given->ports.at(0), "mac"), "02:00:00:00:00:07");
}

TEST(Environment, ErrorsNameTheThing) {
  EXPECT_THAT(error_of("/no/such.toml", ""), HasSubstr("cannot read the profile '/no/such.toml'"));
  EXPECT_THAT(error_of("", "--prot x"), HasSubstr("unknown option --prot, nearest is --port"));
  EXPECT_THAT(error_of("", "--mode worker --port net_null0"), HasSubstr("leave mode out"));
  EXPECT_THAT(error_of("", "--port net_af_packet,iface=nope7"), HasSubstr("'nope7'"));
}

TEST(Environment, APortMustBeOneThatCanBeMade) {
  EXPECT_THAT(error_of("", "--port eth1"), HasSubstr("--port net_af_packet,iface=eth1"));
  EXPECT_THAT(error_of("", "--port net_af_packet0"), HasSubstr("net_af_packet0,iface="));
  EXPECT_THAT(error_of("", "--port net_memif,address=10.0.0.1/24"), HasSubstr("socket="));
  for (const char* good :
       {"--port net_null0", "--port 0000:03:00.0", "--rings 1 --port net_ring_u0"}) {
    EXPECT_EQ(error_of("", good), "");
  }
}

TEST(Environment, TheVariablesAreTwo) {
  ASSERT_EQ(setenv("UROCE_OPTIONS", "--port net_null3", 1), 0);
  unsetenv("UROCE_CONFIG");
  const auto settings = settings_of_environment();
  unsetenv("UROCE_OPTIONS");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->ports.at(0).name, "net_null3");
}

}  // namespace
}  // namespace uroce::ibverbs
