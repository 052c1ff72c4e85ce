// SPDX-License-Identifier: BSD-3-Clause
// Ports by the port contract: refusals in one line, sizes, what the device is told, closing.
#include "nic/port.h"

#include <gmock/gmock.h>
#include <rte_mbuf.h>

#include "nic/nic_test_ports.h"

namespace uroce::nic {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const PortConfig& config) {
  auto port = Port::open(config);
  return port.ok() ? "opened" : std::string(port.status().message());
}

class PortTest : public RingPortsTest {};

TEST_F(PortTest, UnknownPortIsNamedAndSoAreThePortsThatThereAre) {
  open();
  EXPECT_THAT(refusal({.name = "eth7"}), AllOf(HasSubstr("port eth7: no such DPDK port"),
                                               HasSubstr("net_ring_u0"), Not(HasSubstr("\n"))));
  EXPECT_THAT(refusal({.name = "31"}), HasSubstr("port 31: no such DPDK port"));
}

TEST_F(PortTest, OpensByNumberToo) {
  open();
  const uint16_t id = b->id();
  b->drain();
  ASSERT_TRUE(b->close().ok());
  b.reset();
  EXPECT_THAT(refusal({.name = std::to_string(id)}), HasSubstr("no such DPDK port"));
  EXPECT_EQ(a->config().name, "net_ring_u0");
}

TEST_F(PortTest, TellsTheDeviceWhatItIs) {
  PortConfig config;
  config.vlan_id = 100;
  config.addresses = {{Gid::from_ipv4(0x0A000001), 24}};
  open(config);
  const device::PortInfo info = a->info();
  EXPECT_EQ(info.name, "net_ring_u0");
  EXPECT_EQ(info.ownership, device::PortOwnership::kOwn);
  EXPECT_EQ(info.frame_bytes_max, 4198u);
  EXPECT_TRUE(info.link_up);
  EXPECT_EQ(info.vlan_id, 100);
  EXPECT_EQ(info.queue_count, 1u);
  EXPECT_EQ(info.filter, device::FilterKind::kNone);
  EXPECT_EQ(info.kernel_if_index, 0);
  ASSERT_EQ(a->addresses().size(), 1u);
  EXPECT_EQ(a->addresses()[0].address, Gid::from_ipv4(0x0A000001));
}

TEST_F(PortTest, KernelCallsAreNotForOwnPorts) {
  open();
  MacAddress mac;
  EXPECT_EQ(a->set_group_filter(Gid::from_ipv4(0xE0010101), kEverySource), -ENOTSUP);
  EXPECT_EQ(a->resolve(Gid::from_ipv4(0x0A000002), Duration{0}, mac), -ENOTSUP);
}

TEST_F(PortTest, MtuOfTheConfigurationIsTheFrameSize) {
  PortConfig config;
  config.mtu = 9000;
  open(config);
  EXPECT_EQ(a->info().frame_bytes_max, 9014u);
  EXPECT_GE(a->queue(0).lend()[0].capacity, 9018u);
}

TEST_F(PortTest, RefusesMoreQueuesThanThePortHas) {
  auto pairs = RingPairs::make(1);
  ASSERT_TRUE(pairs.ok());
  EXPECT_THAT(refusal({.name = pairs->port_names()[0], .queue_count = 2}),
              HasSubstr("2 queues: it has 1 to 1"));
  EXPECT_THAT(refusal({.name = pairs->port_names()[0], .queue_count = 0}), HasSubstr("0 queues"));
}

TEST_F(PortTest, RefusesAPoolThatMemoryCannotHoldAndNamesTheSwitch) {
  auto pairs = RingPairs::make(1);
  ASSERT_TRUE(pairs.ok());
  EXPECT_THAT(refusal({.name = pairs->port_names()[0], .frames_held_max = 500'000}),
              ::testing::ContainsRegex("-m [0-9]+$"));
  EXPECT_EQ(refusal({.name = pairs->port_names()[0], .frames_held_max = 64}), "opened");
}

TEST_F(PortTest, CloseSaysHowManyMbufsDidNotComeHome) {
  open();
  rte_mbuf* kept = rte_pktmbuf_alloc(a->pool());
  ASSERT_NE(kept, nullptr);
  a->drain();
  b->drain();
  const absl::Status closed = a->close();
  EXPECT_THAT(std::string(closed.message()), HasSubstr("1 mbufs did not come home"));
  EXPECT_TRUE(a->close().ok());  // the second time it does nothing
  rte_pktmbuf_free(kept);
}

TEST_F(PortTest, WarnsOnceWhenTheCoreIsOnAnotherNode) {
  open();
  test_log().clear();
  const int node = a->info().numa_node;
  a->check_core(node);
  EXPECT_TRUE(test_log().empty());
  a->check_core(node + 1);
  a->check_core(node + 1);
  EXPECT_EQ(test_log().size(), node < 0 ? 0u : 1u);
}

TEST(NullPort, ItsEndlessFramesAreOneNamedDrop) {
  auto port = Port::open({.name = "net_null0"});
  ASSERT_TRUE(port.ok()) << port.status();
  std::vector<RxFrame> frames(kBurst);
  for (int i = 0; i < 100; ++i) EXPECT_EQ((*port)->queue(0).receive(Time{}, frames), 0u);
  EXPECT_EQ((*port)->queue(0).counters().rx_empty_frame.value(), 3200u);
  EXPECT_TRUE(send((*port)->queue(0), 32, 0));
  (*port)->drain();
  EXPECT_TRUE((*port)->close().ok());
}

}  // namespace
}  // namespace uroce::nic
