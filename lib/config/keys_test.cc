// SPDX-License-Identifier: BSD-3-Clause
// Keys: every documented one is taken, flags both ways, the rest is refused by name.
#include "config/keys.h"

#include <gtest/gtest.h>

namespace uroce::config {
namespace {

TEST(Keys, TakeEveryKeyOfAPort) {
  PortSettings port;
  const std::pair<const char*, const char*> good[] = {
      {"name", "p"},          {"address", "10.0.0.1/24"},
      {"gateway", "fe80::1"}, {"own", ""},
      {"vlan", "10"},         {"mtu", "9000"},
      {"queues", "2"},        {"descriptors", "512"},
      {"shared", "false"},    {"promiscuous", "true"},
      {"privileged_qkey", ""}};
  for (const auto& [key, value] : good) EXPECT_TRUE(set_port_key(port, key, value).ok()) << key;
  EXPECT_EQ(port.ownership, Ownership::kOwn);
  EXPECT_TRUE(port.promiscuous);
  EXPECT_TRUE(port.privileged_qkey);
  EXPECT_EQ(port.descriptors, 512u);
}

TEST(Keys, RefuseValuesThatAreNotOfTheirKind) {
  PortSettings port;
  for (const auto& [key, value] :
       {std::pair{"vlan", "70000"}, std::pair{"vlan", "-1"}, std::pair{"mtu", "1500x"},
        std::pair{"own", "maybe"}, std::pair{"gateway", "239.0.0.1"}, std::pair{"queues", ""}}) {
    EXPECT_FALSE(set_port_key(port, key, value).ok()) << key << "=" << value;
  }
}

}  // namespace
}  // namespace uroce::config
