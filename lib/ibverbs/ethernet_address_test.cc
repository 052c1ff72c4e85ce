// SPDX-License-Identifier: BSD-3-Clause
// Tests of resolving a destination's MAC address.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

using Mac = std::array<uint8_t, ETHERNET_LL_SIZE>;

class EthernetAddress : public FaceTest {
 protected:
  static ibv_ah_attr to(const Gid& gid) {
    ibv_ah_attr attr{};
    from_gid(gid, attr.grh.dgid);
    attr.grh.sgid_index = 1;
    attr.is_global = 1;
    attr.port_num = 1;
    return attr;
  }

  Mac mac_{};
  uint16_t vid_ = 0;
};

TEST_F(EthernetAddress, OfAGroupFollowsFromItsName) {
  ibv_ah_attr attr = to(device::kTestGroup);
  ASSERT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac_.data(), &vid_), 0);
  EXPECT_EQ(mac_, (Mac{0x01, 0x00, 0x5e, 1, 2, 3}));
  EXPECT_EQ(vid_, 0xFFFF) << "no tag";
}

TEST_F(EthernetAddress, OfOurselvesIsOurs) {
  bed().port.port.vlan_id = 42;
  ibv_ah_attr attr = to(device::kTestIpv4);
  ASSERT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac_.data(), &vid_), 0);
  EXPECT_TRUE(std::ranges::equal(mac_, device::kTestMac.bytes));
  EXPECT_EQ(vid_, 42);
}

TEST_F(EthernetAddress, IsRefusedWhereThereIsNone) {
  ibv_ah_attr attr = to(device::kTestIpv4);
  attr.is_global = 0;
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac_.data(), &vid_), EINVAL);
  attr = to(device::kTestIpv4);
  attr.grh.sgid_index = 100;
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac_.data(), &vid_), ENODATA);
  runtime_.error = -EIO;
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac_.data(), &vid_), EIO);
  runtime_.error = 0;
}

// What it made on the way is gone again: the device has room for one domain and one handle.
class EthernetAddressInLittleRoom : public EthernetAddress {
 protected:
  static device::TestBedOptions options() {
    device::TestBedOptions options;
    options.limits.pd_max = 1;
    options.limits.ah_max = 1;
    return options;
  }
};

TEST_F(EthernetAddressInLittleRoom, LeavesNothingBehind) {
  ibv_ah_attr attr = to(device::kTestGroup);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac_.data(), &vid_), 0) << i;
  }
}

}  // namespace
}  // namespace uroce::ibverbs
