// SPDX-License-Identifier: BSD-3-Clause
// Tests of a device's port and its partition keys.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {
namespace {

class PortTest : public FaceTest {
 protected:
  ibv_port_attr port() {
    ibv_port_attr attr{};
    EXPECT_EQ(ibv_query_port(context_, 1, &attr), 0);
    return attr;
  }
};

TEST_F(PortTest, IsAnEthernetPortWithAGlobalHeader) {
  const ibv_port_attr attr = port();
  EXPECT_EQ(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(attr.flags, IBV_QPF_GRH_REQUIRED);
  EXPECT_EQ(attr.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(attr.phys_state, 5);
  EXPECT_EQ(attr.lid, 0);
  EXPECT_EQ(attr.max_mtu, IBV_MTU_4096);
  EXPECT_EQ(attr.active_mtu, IBV_MTU_4096);
  EXPECT_EQ(attr.gid_tbl_len, 128);
  EXPECT_EQ(attr.pkey_tbl_len, 1);
  EXPECT_EQ(attr.max_msg_sz, 1u << 31);
  EXPECT_EQ(attr.active_width, 2) << "4x";
  EXPECT_EQ(attr.active_speed, 32) << "EDR";
  EXPECT_EQ(runtime_.running(0), nullptr);
}

TEST_F(PortTest, SaysTheSameOfADeviceThatRuns) {
  const ibv_port_attr before = port();
  ibv_pd* const pd = ibv_alloc_pd(context_);
  const ibv_port_attr after = port();
  EXPECT_EQ(bytes_of(before), bytes_of(after));
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(PortTest, TellsALinkThatIsDown) {
  ibv_pd* const pd = ibv_alloc_pd(context_);
  bed().port.port.link_up = false;
  EXPECT_EQ(port().state, IBV_PORT_DOWN);
  EXPECT_EQ(port().phys_state, 3);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(PortTest, IsUpUntilItsPeerComes) {
  ibv_pd* const pd = ibv_alloc_pd(context_);
  bed().port.port.link_up = false;
  bed().port.port.awaits_peer = true;
  EXPECT_EQ(port().state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port().phys_state, 5);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(PortTest, IsTheOnlyOne) {
  ibv_port_attr attr{};
  EXPECT_EQ(ibv_query_port(context_, 0, &attr), EINVAL);
  EXPECT_EQ(ibv_query_port(context_, 2, &attr), EINVAL);
}

// Programs of before extended capabilities bring a shorter structure.
TEST_F(PortTest, IsToldInTheShortStructure) {
  ibv_port_attr attr;
  std::memset(&attr, 0x55, sizeof attr);
  auto* const before = reinterpret_cast<_compat_ibv_port_attr*>(&attr);
  ASSERT_EQ((ibv_query_port)(context_, 1, before), 0);
  EXPECT_EQ(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(attr.flags, IBV_QPF_GRH_REQUIRED);
  EXPECT_EQ(attr.port_cap_flags2, 0x5555);
  attr.state = IBV_PORT_NOP;
  ASSERT_EQ(context_->ops._compat_query_port(context_, 1, before), 0);
  EXPECT_EQ(attr.state, IBV_PORT_ACTIVE);
  std::memset(&attr, 0x55, sizeof attr);
  ASSERT_EQ(query_port(context_, 1, &attr, offsetof(ibv_port_attr, gid_tbl_len)), 0);
  EXPECT_EQ(attr.active_mtu, IBV_MTU_4096);
  EXPECT_EQ(attr.gid_tbl_len, 0x55555555);
}

TEST_F(PortTest, HasOnePartitionKey) {
  __be16 pkey = 0;
  EXPECT_EQ(ibv_query_pkey(context_, 1, 0, &pkey), 0);
  EXPECT_EQ(pkey, 0xFFFF);
  EXPECT_EQ(ibv_get_pkey_index(context_, 1, pkey), 0);
  errno = 0;
  EXPECT_EQ(ibv_query_pkey(context_, 1, 1, &pkey), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_query_pkey(context_, 2, 0, &pkey), -1);
  errno = 0;
  EXPECT_EQ(ibv_get_pkey_index(context_, 1, 0x1234), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace uroce::ibverbs
