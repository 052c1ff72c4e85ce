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

// Whether the kernel has them is seen when the port is opened.
TEST(Settings, ASharedPortMayNameTheAddressesToUse) {
  Settings settings;
  PortSettings& port = settings.ports.emplace_back();
  port.name = "p";
  port.ownership = Ownership::kShared;
  port.addresses.push_back(*parse_prefix("10.0.0.1/24"));
  EXPECT_TRUE(validate(settings).ok());
}

TEST(Settings, OnASharedPortTheKernelSpeaksTheListenerProtocols) {
  Settings settings;
  PortSettings& port = settings.ports.emplace_back();
  port.name = "p";
  port.mld_version = 1;
  EXPECT_TRUE(validate(settings).ok());
  port.ownership = Ownership::kShared;
  EXPECT_EQ(validate(settings).message(),
            "port p is shared, so the kernel speaks MLD on it: leave out mld, or say own");
  port.igmp_version = 0;
  EXPECT_EQ(validate(settings).message(),
            "port p is shared, so the kernel speaks IGMP on it: leave out igmp, or say own");
}

Settings with_port(const char* name, std::vector<const char*> addresses, const char* gateway) {
  Settings settings;
  PortSettings& port = settings.ports.emplace_back();
  port.name = name;
  for (const char* address : addresses) port.addresses.push_back(*parse_prefix(address));
  const Gid router = gateway == nullptr ? Gid{} : *parse_address(gateway);
  (router.is_ipv4() ? port.gateway_ipv4 : port.gateway_ipv6) = router;
  return settings;
}

TEST(Settings, AnOwnAddressIsAHosts) {
  for (const char* bad :
       {"255.255.255.255/24", "10.0.0.255/24", "10.0.0.0/24", "0.0.0.0/0", "0.1.2.3/8",
        "127.0.0.1/8", "224.0.0.1/24", "::/64", "::1/128", "ff02::1/64"}) {
    EXPECT_NE(validate(with_port("p", {bad}, nullptr)).message().find("cannot be a host's own"),
              std::string::npos)
        << bad;
  }
  for (const char* good : {"10.0.0.1/24", "10.0.0.0/31", "10.0.0.1/31", "10.0.0.255/32",
                           "10.0.0.255/23", "fe80::1/64", "fd00::/64", "223.0.0.9/24"}) {
    EXPECT_TRUE(validate(with_port("p", {good}, nullptr)).ok()) << good;
  }
}

TEST(Settings, AGatewayIsANeighbour) {
  EXPECT_TRUE(validate(with_port("p", {"10.0.0.1/24"}, "10.0.0.254")).ok());
  EXPECT_TRUE(validate(with_port("p", {"fd00::1/64"}, "fd00::fe")).ok());
  EXPECT_TRUE(validate(with_port("p", {"10.0.0.1/24"}, "fe80::1")).ok()) << "link-local";
  EXPECT_TRUE(validate(with_port("p", {"10.1.0.1/24", "10.0.0.1/25"}, "10.0.0.127")).ok());
  EXPECT_EQ(validate(with_port("p", {"10.0.0.1/25"}, "10.0.0.128")).message(),
            "gateway 10.0.0.128 of port p is in the prefix of none of its addresses: give a router "
            "that is on the link");
  EXPECT_EQ(validate(with_port("p", {"fd00::1/64"}, "10.0.0.254")).message(),
            "gateway 10.0.0.254 of port p needs an address of the same family beside it: give the "
            "port an IPv4 address");
  EXPECT_EQ(validate(with_port("p", {}, "fd00::fe")).message(),
            "gateway fd00::fe of port p needs an address of the same family beside it: give the "
            "port an IPv6 address");
  EXPECT_EQ(validate(with_port("p", {"10.0.0.1/24"}, "10.0.0.1")).message(),
            "gateway 10.0.0.1 of port p is the port's own address: give the router's");
}

TEST(Settings, ThePaceOfTheProgressThreadHasItsRanges) {
  Settings settings;
  settings.spin_us = 1'000'000;
  settings.sleep_us = 10'000;
  EXPECT_TRUE(validate(settings).ok());
  settings.spin_us = 1'000'001;
  EXPECT_EQ(validate(settings).message(), "spin_us is 1000001: give a value from 0 to 1000000");
  settings.spin_us = 0;
  settings.sleep_us = 0;
  EXPECT_EQ(validate(settings).message(), "sleep_us is 0: give a value from 1 to 10000");
}

TEST(Settings, LogLevelsHaveTheirNames) {
  EXPECT_EQ(log_level_of("error"), LogLevel::kError);
  EXPECT_EQ(log_level_of("warning"), LogLevel::kWarning);
  EXPECT_EQ(log_level_of("info"), LogLevel::kInfo);
  EXPECT_EQ(log_level_of("debug"), LogLevel::kDebug);
}

TEST(Settings, AnAddressBelongsToOnePort) {
  Settings settings = with_port("p", {"10.0.0.1/24", "fe80::1/64"}, nullptr);
  settings.ports.push_back(with_port("q", {"10.0.0.2/24", "fe80::1/64"}, nullptr).ports[0]);
  EXPECT_TRUE(validate(settings).ok()) << "a link-local address is another host's on every link";
  settings.ports[1].addresses[0] = *parse_prefix("10.0.0.1/16");
  EXPECT_EQ(validate(settings).message(),
            "address 10.0.0.1 of port q is that of port p already: give each its own");
}

}  // namespace
}  // namespace uroce::config
