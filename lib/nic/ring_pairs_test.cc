// SPDX-License-Identifier: BSD-3-Clause
// Ring pairs: names, distinct local MACs, and a second life after the first.
#include "nic/ring_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nic/nic_test_ports.h"

namespace uroce::nic {
namespace {

using ::testing::ElementsAre;

TEST(RingPairs, TwoPairsAreFourPortsWithDistinctLocalMacs) {
  auto rings = RingPairs::make(2);
  ASSERT_TRUE(rings.ok()) << rings.status();
  EXPECT_THAT(rings->port_names(),
              ElementsAre("net_ring_u0", "net_ring_u1", "net_ring_u2", "net_ring_u3"));
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<MacAddress> macs;
  for (const std::string& name : rings->port_names()) {
    auto port = Port::open({.name = name, .frames_held_max = 64});
    ASSERT_TRUE(port.ok()) << port.status();
    ports.push_back(*std::move(port));
    macs.push_back(ports.back()->info().mac);
    EXPECT_EQ(macs.back().bytes[0], 0x02);
  }
  std::sort(macs.begin(), macs.end());
  EXPECT_EQ(std::unique(macs.begin(), macs.end()), macs.end());
  ASSERT_TRUE(send(ports[2]->queue(0), 1, 7));
  EXPECT_TRUE(receive_tags(ports[0]->queue(0)).empty());
  EXPECT_TRUE(receive_tags(ports[1]->queue(0)).empty());
  EXPECT_THAT(receive_tags(ports[3]->queue(0)), ElementsAre(7));
}

TEST(RingPairs, AFrameForAPortThatNobodyOpenedComesHome) {
  auto rings = RingPairs::make(1);
  ASSERT_TRUE(rings.ok()) << rings.status();
  auto port = Port::open({.name = "net_ring_u0", .frames_held_max = 64});
  ASSERT_TRUE(port.ok()) << port.status();
  ASSERT_TRUE(send((*port)->queue(0), 1, 7));
  (*port)->drain();
  rings->drain();
  EXPECT_TRUE((*port)->close().ok());
}

TEST(RingPairs, CanBeMadeAgainAfterTheyAreGone) {
  for (int round = 0; round < 3; ++round) {
    auto rings = RingPairs::make(1, 2);
    ASSERT_TRUE(rings.ok()) << rings.status();
  }
}

TEST(RingPairs, RefusesCountsOutOfRange) {
  EXPECT_FALSE(RingPairs::make(0).ok());
  EXPECT_FALSE(RingPairs::make(kRingPairsMax + 1).ok());
  EXPECT_FALSE(RingPairs::make(1, 0).ok());
  EXPECT_FALSE(RingPairs::make(1, 1000).ok());
}

}  // namespace
}  // namespace uroce::nic
