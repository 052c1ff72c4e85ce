// SPDX-License-Identifier: BSD-3-Clause
// Settings become port plans one for one; without ports there is one sentence.
#include "start/port_plan.h"

#include <gtest/gtest.h>

namespace uroce::start {
namespace {

TEST(PortPlan, TakesTheNamedPortsInTheirOrder) {
  config::Settings settings;
  for (const char* name : {"b", "a"}) {
    config::PortSettings port;
    port.name = name;
    port.addresses.push_back(*parse_prefix("10.0.0.1/24"));
    port.queue_count = 2;
    settings.ports.push_back(port);
  }
  settings.fault = "loss=0.25,seed=3";
  const auto plan = plan_ports(settings, {"a", "b", "c"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 2u);
  EXPECT_EQ((*plan)[0].name, "b");
  EXPECT_EQ((*plan)[0].queue_count, 2u);
  EXPECT_EQ((*plan)[1].addresses[0].prefix_length, 24);
  EXPECT_EQ((*plan)[1].faults.loss, 0.25);
  EXPECT_EQ(ring_queue_count(settings), 2u);
}

TEST(PortPlan, TakesEveryPortWhenNoneIsNamed) {
  const auto plan = plan_ports(config::Settings{}, {"x", "y"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->size(), 2u);
}

TEST(PortPlan, SaysSoWhenThereIsNoPortOrTheFaultsAreNone) {
  EXPECT_EQ(plan_ports(config::Settings{}, {}).status().code(), absl::StatusCode::kNotFound);
  config::Settings settings;
  settings.fault = "loss=lots";
  EXPECT_FALSE(plan_ports(settings, {"x"}).ok());
}

TEST(HasAddress, AnOwnPortNeedsOneUnlessItLeadsNowhere) {
  device::PortInfo port;
  port.name = "p";
  nic::PortConfig config;
  EXPECT_EQ(check_has_address(port, "net_ring", config).message(),
            "port p: an own port needs an address: name one, such as --port "
            "p,address=10.0.0.1/24");
  port.kernel_if_index = 7;
  EXPECT_EQ(check_has_address(port, "net_af_packet", config).message(),
            "port p: an own port needs an address: name one, such as --port p,address=10.0.0.1/24, "
            "or give its kernel interface one, which is then shared");
  EXPECT_TRUE(check_has_address(port, "net_pcap", config).ok());
  EXPECT_TRUE(check_has_address(port, "net_null", config).ok());
  port.ownership = device::PortOwnership::kShared;
  EXPECT_TRUE(check_has_address(port, "net_af_packet", config).ok());
  port.ownership = device::PortOwnership::kOwn;
  config.addresses = {{Gid::from_ipv4(0x0A000001), 24}};
  EXPECT_TRUE(check_has_address(port, "net_ring", config).ok());
}

}  // namespace
}  // namespace uroce::start
