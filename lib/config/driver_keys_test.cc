// SPDX-License-Identifier: BSD-3-Clause
// Keys of drivers beside our own: kept, checked, and refused by name.
#include "config/driver_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/command_line.h"
#include "config/profile.h"

namespace uroce::config {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Settings> parse(std::vector<const char*> arguments) {
  return parse_command_line(arguments);
}

TEST(DriverKeys, StandBesideOurOwnInOnePort) {
  const auto settings =
      parse({"--port", "net_af_packet,iface=eth1,address=10.0.0.1/24,framecnt=64"});
  ASSERT_TRUE(settings.ok()) << settings.status();
  const PortSettings& port = settings->ports.at(0);
  EXPECT_EQ(port.driver_arguments, "iface=eth1,framecnt=64");
  EXPECT_EQ(port.addresses.size(), 1u);
  EXPECT_EQ(driver_value(port, "iface"), "eth1");
  EXPECT_EQ(driver_value(port, "framesz"), std::nullopt);
}

TEST(DriverKeys, AProfileHasThemTooWhereverTheNameStands) {
  Settings settings;
  const absl::Status status = apply_profile_text(
      "[[port]]\nbsize = 4352\nname = \"net_memif\"\nsocket-abstract = \"no\"\nsocket = "
      "\"/run/m\"\n",
      "p.toml", settings);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(driver_value(settings.ports.at(0), "bsize"), "4352");
  EXPECT_EQ(driver_value(settings.ports.at(0), "socket"), "/run/m");
  EXPECT_EQ(driver_value(settings.ports.at(0), "socket-abstract"), "no");
  EXPECT_TRUE(validate(settings).ok());
}

TEST(DriverKeys, AKeyOfAnotherDriverIsNamedWithWhatThisOneHas) {
  const auto settings = parse({"--port", "net_memif0,iface=eth1,address=10.0.0.1/24"});
  EXPECT_THAT(std::string(settings.status().message()),
              HasSubstr("port net_memif0: unknown key of driver net_memif 'iface'"));
  const auto none = parse({"--port", "eth1,iface=eth1"});
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("call the port net_af_packet"));
}

TEST(DriverKeys, AValueIsGivenOnceAndCannotCarryFurtherArguments) {
  EXPECT_THAT(std::string(parse({"--port", "net_af_packet,iface=a,iface=b"}).status().message()),
              HasSubstr("iface is given twice"));
  EXPECT_THAT(std::string(parse({"--port", "net_af_packet,iface="}).status().message()),
              HasSubstr("iface=: give the driver a value"));
  PortSettings port;
  EXPECT_FALSE(set_driver_key(port, "iface", "a,framesz=1").ok());
  EXPECT_FALSE(set_driver_key(port, "iface", "a b").ok());
  EXPECT_EQ(port.driver_arguments, "");
}

TEST(DriverKeys, ANumberIsOne) {
  for (const char* value : {"x", "-1", "12k", "0x10", "4294967296"}) {
    const std::string port =
        std::string("net_memif0,socket=/run/m,address=10.0.0.1/24,id=") + value;
    EXPECT_EQ(parse({"--port", port.c_str()}).status().message(),
              std::string("port net_memif0: id=") + value + ": give a number from 0 to 4294967295");
  }
  EXPECT_TRUE(parse({"--port", "net_memif0,socket=/run/m,address=10.0.0.1/24,id=4294967295"}).ok());
}

}  // namespace
}  // namespace uroce::config
