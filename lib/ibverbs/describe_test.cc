// SPDX-License-Identifier: BSD-3-Clause
// What is said of a device before DPDK runs.
#include "ibverbs/describe.h"

#include <gtest/gtest.h>

#include "base/address_text.h"
#include "device/port_mtu.h"
#include "ibverbs/environment.h"

namespace uroce::ibverbs {
namespace {

DeviceDescription describe(const std::string& options, uint32_t index = 0) {
  const auto settings = read_settings("", options);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.ok() ? describe_device(*settings, index) : DeviceDescription{};
}

PathMtu path_mtu(const DeviceDescription& device) {
  return device::path_mtu_for_frame(device.port.frame_bytes_max).value_or(PathMtu::k256);
}

TEST(Describe, MemifHasItsAddressItsMacAndPathMtu4096) {
  const DeviceDescription device =
      describe("--port net_memif,socket=/tmp/m,mac=02:00:00:00:00:07,address=10.0.0.1/24");
  EXPECT_EQ(device.name, "uroce0");
  EXPECT_EQ(mac_text(device.port.mac), "02:00:00:00:00:07");
  ASSERT_EQ(device.addresses.size(), 1u);
  EXPECT_EQ(address_text(device.addresses[0].address), "10.0.0.1");
  EXPECT_EQ(device.addresses[0].prefix_length, 24);
  EXPECT_EQ(path_mtu(device), PathMtu::k4096);
  EXPECT_EQ(device.port.ownership, device::PortOwnership::kOwn);
  EXPECT_TRUE(device.port.link_up);
}

TEST(Describe, RingsAndNullPortsHaveTheMacThatTheyWillGet) {
  const std::string options =
      "--rings 1 --port net_ring_u1,address=10.0.0.2/24 --port net_null0,mtu=1500";
  EXPECT_EQ(describe(options, 0).port.mac.bytes[5], 1);
  EXPECT_EQ(describe(options, 1).name, "uroce1");
  EXPECT_EQ(describe(options, 1).port.mac.bytes[5], 1);
  EXPECT_EQ(path_mtu(describe(options, 1)), PathMtu::k1024);
}

TEST(Describe, LimitsAreThoseOfTheSettings) {
  const DeviceDescription device =
      describe("--port net_null0,queues=2 --limit queue_pairs=128 --limit completion_queues=77");
  EXPECT_EQ(device.qp_max, 256u);
  EXPECT_EQ(device.limits.cq_max, 77u);
  EXPECT_EQ(device.mr_max, 65536u);
}

TEST(Describe, AnInterfaceOfTheKernelSpeaksForItself) {
  const DeviceDescription shared = describe("--port net_af_packet,iface=lo");
  EXPECT_NE(shared.port.kernel_if_index, 0);
  EXPECT_EQ(path_mtu(shared), PathMtu::k4096);
  const DeviceDescription own = describe("--port net_af_packet,iface=lo,own,address=10.9.9.9/24");
  EXPECT_EQ(own.port.ownership, device::PortOwnership::kOwn);
  EXPECT_EQ(address_text(own.addresses.at(0).address), "10.9.9.9");
}

}  // namespace
}  // namespace uroce::ibverbs
