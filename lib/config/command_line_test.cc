// SPDX-License-Identifier: BSD-3-Clause
// The command line: what is written arrives, what is wrong is named with its cure.
#include "config/command_line.h"

#include <gtest/gtest.h>

namespace uroce::config {
namespace {

std::string error_of(std::vector<const char*> arguments) {
  const auto settings = parse_command_line(arguments);
  return settings.ok() ? "ok" : std::string(settings.status().message());
}

TEST(CommandLine, FillsTheSettings) {
  const std::vector<const char*> arguments = {
      "--mode",
      "worker",
      "--cores",
      "1,3",
      "--rings",
      "2",
      "--port",
      "net_af_packet0,address=10.0.0.1/24,address=fd00::1/64,gateway=10.0.0.254,vlan=7,own",
      "--limit",
      "queue_pairs=256",
      "--fault",
      "loss=0.01"};
  const auto settings = parse_command_line(arguments);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->mode, DriveMode::kWorker);
  EXPECT_EQ(settings->cores, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(settings->rings, 2u);
  EXPECT_EQ(settings->fault, "loss=0.01");
  EXPECT_EQ(settings->limits.queue_pairs, 256u);
  ASSERT_EQ(settings->ports.size(), 1u);
  const PortSettings& port = settings->ports[0];
  EXPECT_EQ(port.name, "net_af_packet0");
  ASSERT_EQ(port.addresses.size(), 2u);
  EXPECT_EQ(prefix_text(port.addresses[1]), "fd00::1/64");
  EXPECT_EQ(address_text(port.gateway_ipv4), "10.0.0.254");
  EXPECT_EQ(port.vlan_id, 7);
  EXPECT_EQ(port.ownership, Ownership::kOwn);
}

TEST(CommandLine, NamesWhatIsWrongAndTheCure) {
  EXPECT_NE(error_of({"--frobnicate"}).find("--frobnicate"), std::string::npos);
  EXPECT_EQ(error_of({"--mode", "fast"}), "mode=fast: give inline, shared or worker");
  EXPECT_EQ(error_of({"--rings", "9"}), "rings is 9: give a value from 0 to 8");
  EXPECT_EQ(error_of({"--rings", "two"}), "rings=two: give a number");
  EXPECT_EQ(error_of({"--cores", "1"}), "cores are for worker mode: add --mode worker");
  EXPECT_EQ(error_of({"--port", "p,adress=10.0.0.1/24"}),
            "--port p: unknown port key 'adress': known are name, address, gateway, own, shared, "
            "vlan, mtu, queues, descriptors, promiscuous");
  EXPECT_EQ(error_of({"--port", "p,address=10.0.0.300/24"}),
            "--port p: address=10.0.0.300/24: give an address with its prefix, such as "
            "10.0.0.1/24");
  EXPECT_EQ(error_of({"--port", "p,address=239.0.0.1/24"}),
            "address 239.0.0.1/24 of port p cannot be a host's own");
  EXPECT_EQ(error_of({"--port", "p", "--port", "p"}), "port p is configured twice");
  EXPECT_EQ(error_of({"--limit", "queue_pairs=100"}),
            "queue_pairs is 100: give a power of two from 64 to 1048576");
  EXPECT_NE(error_of({"--profile", "/no/such.toml"}).find("/no/such.toml"), std::string::npos);
}

}  // namespace
}  // namespace uroce::config
