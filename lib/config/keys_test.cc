// SPDX-License-Identifier: BSD-3-Clause
// Keys: every documented one is taken, flags both ways, the rest is refused by name.
#include "config/keys.h"

#include <gtest/gtest.h>

#include <string>

namespace uroce::config {
namespace {

TEST(Keys, TakeEveryKeyOfAPort) {
  PortSettings port;
  const std::pair<const char*, const char*> good[] = {
      {"name", "p"},           {"address", "10.0.0.1/24"},
      {"gateway", "fe80::1"},  {"own", ""},
      {"vlan", "10"},          {"mtu", "9000"},
      {"queues", "2"},         {"descriptors", "512"},
      {"shared", "false"},     {"promiscuous", "true"},
      {"privileged_qkey", ""}, {"igmp", "2"},
      {"mld", "off"}};
  for (const auto& [key, value] : good) EXPECT_TRUE(set_port_key(port, key, value).ok()) << key;
  EXPECT_EQ(port.ownership, Ownership::kOwn);
  EXPECT_TRUE(port.promiscuous);
  EXPECT_TRUE(port.privileged_qkey);
  EXPECT_EQ(port.descriptors, 512u);
  EXPECT_EQ(port.igmp_version, 2);
  EXPECT_EQ(port.mld_version, 0);
}

TEST(Keys, RefuseValuesThatAreNotOfTheirKind) {
  PortSettings port;
  for (const auto& [key, value] :
       {std::pair{"vlan", "70000"}, std::pair{"vlan", "-1"}, std::pair{"mtu", "1500x"},
        std::pair{"own", "maybe"}, std::pair{"gateway", "239.0.0.1"}, std::pair{"queues", ""}}) {
    EXPECT_FALSE(set_port_key(port, key, value).ok()) << key << "=" << value;
  }
}

TEST(Keys, ListenerProtocolsHaveTheVersionsThatExist) {
  PortSettings port;
  for (const char* good : {"off", "1", "2", "3"}) {
    EXPECT_TRUE(set_port_key(port, "igmp", good).ok()) << good;
  }
  EXPECT_EQ(set_port_key(port, "mld", "3").message(),
            "mld=3: give off, 1 or 2, the newest version to speak");
  for (const char* bad : {"0", "4", "", "on", "22", "-1"}) {
    EXPECT_EQ(set_port_key(port, "igmp", bad).message(),
              "igmp=" + std::string(bad) + ": give off, 1, 2 or 3, the newest version to speak");
  }
}

}  // namespace
}  // namespace uroce::config
