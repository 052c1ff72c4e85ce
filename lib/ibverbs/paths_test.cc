// SPDX-License-Identifier: BSD-3-Clause
// Tests of the way between ibv_ah_attr and a path.
#include "ibverbs/paths.h"

#include <gtest/gtest.h>

#include <cstring>

namespace uroce::ibverbs {
namespace {

TEST(Paths, KeepWhatTheAttributesSayBothWays) {
  ibv_ah_attr attr{};
  from_gid(Gid::from_ipv4(0x0A000002), attr.grh.dgid);
  attr.grh.flow_label = 0x12345;
  attr.grh.sgid_index = 200;
  attr.grh.hop_limit = 7;
  attr.grh.traffic_class = 9;
  attr.sl = 5;
  attr.static_rate = 3;
  attr.is_global = 1;
  attr.port_num = 1;
  const device::AhAttributes path = to_path(attr);
  EXPECT_EQ(path.dgid, Gid::from_ipv4(0x0A000002));
  EXPECT_EQ(path.sgid_index, 200u);
  EXPECT_TRUE(path.global);
  EXPECT_TRUE(path.dmac.is_zero());
  const ibv_ah_attr back = from_path(path);
  EXPECT_EQ(std::memcmp(&attr.grh.dgid, &back.grh.dgid, sizeof attr.grh.dgid), 0);
  EXPECT_EQ(back.grh.flow_label, 0x12345u);
  EXPECT_EQ(back.grh.sgid_index, 200);
  EXPECT_EQ(back.grh.hop_limit, 7);
  EXPECT_EQ(back.grh.traffic_class, 9);
  EXPECT_EQ(back.sl, 5);
  EXPECT_EQ(back.static_rate, 3);
  EXPECT_EQ(back.is_global, 1);
  EXPECT_EQ(back.port_num, 1);
  EXPECT_EQ(back.dlid, 0);
}

// 0xA is what a datagram over IPv4 has (completion_form.h).
TEST(Paths, TakeTheServiceLevelOfAReceivedDatagram) {
  ibv_ah_attr attr{};
  attr.sl = 0xA;
  EXPECT_EQ(to_path(attr).sl, 2);
}

}  // namespace
}  // namespace uroce::ibverbs
