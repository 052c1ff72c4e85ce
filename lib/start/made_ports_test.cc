// SPDX-License-Identifier: BSD-3-Clause
// From the settings of a port to what EAL is told.
#include "start/made_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/driver_keys.h"

namespace uroce::start {
namespace {

using ::testing::HasSubstr;

config::PortSettings port(const char* name, const char* arguments = "") {
  config::PortSettings settings;
  settings.name = name;
  settings.driver_arguments = arguments;
  return settings;
}

TEST(MadePorts, AnAfPacketRingHoldsWhatTheInterfaceCarriesUpToPathMtu4096) {
  config::PortSettings narrow = port("net_af_packet", "iface=eth1");
  ASSERT_TRUE(complete_port(narrow, 1500).ok());
  EXPECT_EQ(eal_argument(narrow),
            "--vdev=net_af_packet,iface=eth1,framesz=2048,blocksz=4096,framecnt=1024");
  EXPECT_EQ(narrow.mtu_bytes, 1500u);
  config::PortSettings wide = port("net_af_packet", "iface=eth1");
  ASSERT_TRUE(complete_port(wide, 9000).ok());
  EXPECT_EQ(eal_argument(wide),
            "--vdev=net_af_packet,iface=eth1,framesz=8192,blocksz=8192,framecnt=1024");
  EXPECT_EQ(wide.mtu_bytes, 4184u);
}

TEST(MadePorts, WhatTheUserChoseStays) {
  config::PortSettings ring = port("net_af_packet", "iface=eth1,framesz=4096,blocksz=8192");
  ASSERT_TRUE(complete_port(ring, 9000).ok());
  EXPECT_EQ(ring.driver_arguments, "iface=eth1,framesz=4096,blocksz=8192");
  EXPECT_EQ(ring.mtu_bytes, 0u);
  config::PortSettings given = port("net_af_packet0");  // EAL has it already
  ASSERT_TRUE(complete_port(given, 0).ok());
  EXPECT_EQ(given.driver_arguments, "");
  config::PortSettings queues = port("net_af_packet", "iface=eth1,framecnt=64");
  queues.queue_count = 4;
  queues.mtu_bytes = 1000;
  ASSERT_TRUE(complete_port(queues, 9000).ok());
  EXPECT_EQ(queues.driver_arguments, "iface=eth1,framecnt=64,framesz=2048,blocksz=4096,qpairs=4");
}

TEST(MadePorts, MemifCarriesPathMtu4096InOneBuffer) {
  config::PortSettings memif = port("net_memif", "socket=/run/m");
  ASSERT_TRUE(complete_port(memif, 0).ok());
  EXPECT_EQ(memif.mtu_bytes, 4184u);
  EXPECT_EQ(memif.driver_arguments, "socket=/run/m,socket-abstract=no,bsize=4224");
  config::PortSettings lost = port("net_memif", "id=1");
  EXPECT_THAT(std::string(complete_port(lost, 0).message()), HasSubstr("name the socket"));
}

TEST(MadePorts, EalHearsOfVirtualAndPciPortsOnly) {
  EXPECT_EQ(eal_argument(port("net_null0")), "--vdev=net_null0");
  EXPECT_EQ(eal_argument(port("net_ring_u0")), "");
  EXPECT_EQ(eal_argument(port("0000:03:00.1")), "--allow=0000:03:00.1");
  EXPECT_EQ(eal_argument(port("0")), "");
  EXPECT_FALSE(is_pci(port("net_null0")));
}

TEST(MadePorts, AnInterfaceThatIsNotThereIsNamed) {
  config::Settings settings;
  settings.ports.push_back(port("net_af_packet", "iface=nope7"));
  EXPECT_THAT(std::string(complete_ports(settings).message()),
              HasSubstr("there is no network interface 'nope7' here"));
  settings.ports[0].driver_arguments = "iface=lo";
  ASSERT_TRUE(complete_ports(settings).ok());
  EXPECT_EQ(settings.ports[0].mtu_bytes, 4184u);  // of 65536
}

}  // namespace
}  // namespace uroce::start
