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
  EXPECT_EQ(error_of({"--mode", "fast"}), "mode=fast: give inline, shared or worker");
  EXPECT_EQ(error_of({"--rings", "9"}), "rings is 9: give a value from 0 to 8");
  EXPECT_EQ(error_of({"--rings", "two"}), "rings=two: give a number from 0 to 8");
  EXPECT_EQ(error_of({"--cores", "1"}), "cores are for worker mode: add --mode worker");
  EXPECT_EQ(error_of({"--port", "p,adress=10.0.0.1/24"}),
            "--port p: unknown port key 'adress', nearest is address; known are name, address, "
            "gateway, own, shared, "
            "vlan, mtu, queues, descriptors, promiscuous, privileged_qkey, igmp, mld");
  EXPECT_EQ(error_of({"--port", "p,address=10.0.0.300/24"}),
            "--port p: address=10.0.0.300/24: give an address with its prefix, such as "
            "10.0.0.1/24");
  EXPECT_EQ(error_of({"--port", "p,address=239.0.0.1/24"}),
            "address 239.0.0.1/24 of port p cannot be a host's own: give a unicast address");
  EXPECT_EQ(error_of({"--port", "p", "--port", "p"}),
            "port p is configured twice: leave one out, or number it: p1");
  EXPECT_EQ(error_of({"--limit", "queue_pairs=100"}),
            "queue_pairs is 100: give a power of two from 64 to 1048576");
}

TEST(CommandLine, AnOptionThatIsNoneIsNamedWithTheNearest) {
  EXPECT_EQ(error_of({"--frobnicate"}), "unknown option --frobnicate: see --help");
  EXPECT_EQ(error_of({"--mdoe", "worker"}), "unknown option --mdoe, nearest is --mode: see --help");
  EXPECT_EQ(error_of({"--ports=p"}), "unknown option --ports, nearest is --port: see --help");
  EXPECT_EQ(error_of({"--log_level", "info"}),
            "unknown option --log_level, nearest is --log-level: see --help");
  EXPECT_EQ(error_of({"worker"}), "'worker' belongs to no option: see --help");
  EXPECT_EQ(error_of({"--port", "p", "own"}), "'own' belongs to no option: see --help");
}

TEST(CommandLine, AnOptionWithoutItsValueSaysWhatItWants) {
  EXPECT_EQ(error_of({"--mode"}), "--mode needs a value (who polls: inline, shared or worker)");
  EXPECT_EQ(error_of({"--mode", "--rings", "1"}),
            "--mode needs a value (who polls: inline, shared or worker)");
  EXPECT_EQ(error_of({"--mode", "inline", "--mode", "worker"}),
            "--mode is given twice: leave one out");
  EXPECT_EQ(error_of({"--mode", ""}), "mode=: give inline, shared or worker");
  EXPECT_EQ(error_of({"--mode", "worker", "--cores", ""}),
            "cores=: give lcore numbers, such as 1,2");
  EXPECT_EQ(error_of({"--limit", "queue_pairs"}),
            "--limit queue_pairs: write NAME=N, such as queue_pairs=256");
  EXPECT_EQ(error_of({"--limit", "queue_pair=256"}),
            "unknown limit 'queue_pair', nearest is queue_pairs; known are queue_pairs, "
            "completion_queues, memory_regions, multicast_groups, multicast_members, "
            "members_per_group, multicast_sources");
}

TEST(CommandLine, AWrongValueIsAnsweredWithTheRange) {
  EXPECT_EQ(error_of({"--port", "p,vlan=70000"}),
            "--port p: vlan=70000: give a number from 1 to 4094");
  EXPECT_EQ(error_of({"--port", "p,vlan=0"}), "--port p: vlan=0: give a number from 1 to 4094");
  EXPECT_EQ(error_of({"--port", "p,mtu=0"}), "--port p: mtu=0: give a number from 340 to 9600");
  EXPECT_EQ(error_of({"--port", "p,vlan"}), "--port p: vlan=: give a number from 1 to 4094");
  EXPECT_EQ(error_of({"--port", "p,vlan=4095"}),
            "vlan of port p is 4095: give a value from 1 to 4094");
  EXPECT_EQ(error_of({"--port", "p,queues=17"}),
            "queues of port p is 17: give a value from 1 to 16");
  EXPECT_EQ(error_of({"--port", "p,own,shared"}),
            "--port p: own and shared exclude each other: give one of them");
  EXPECT_EQ(error_of({"--port", "name=p"}),
            "--port name=p: the port's name comes first and alone, such as net_ring_u0");
  EXPECT_EQ(error_of({"--port", ""}),
            "a port has no name: give the DPDK port name, such as net_af_packet0");
  EXPECT_EQ(error_of({"--mode", "worker", "--cores", "1,1"}),
            "core 1 is given twice: leave one out");
}

TEST(CommandLine, AProfileThatCannotBeReadIsNamed) {
  EXPECT_EQ(error_of({"--profile", "/no/such.toml"}),
            "cannot read the profile '/no/such.toml' (No such file or directory): give --profile a "
            "TOML file");
  EXPECT_EQ(error_of({"--profile", "/"}),
            "cannot read the profile '/' (Is a directory): give --profile a TOML file");
  EXPECT_EQ(error_of({"--profile", ""}),
            "cannot read the profile '' (No such file or directory): give --profile a TOML file");
  EXPECT_EQ(error_of({"--profile", "/proc/self/mem"}),
            "cannot read the profile '/proc/self/mem' (Input/output error): give --profile a TOML "
            "file");
}

}  // namespace
}  // namespace uroce::config
