// SPDX-License-Identifier: BSD-3-Clause
// Tests of the way back to a datagram's sender.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "ibverbs/face_fixture.h"
#include "wire/ip.h"

namespace uroce::ibverbs {
namespace {

using device::kTestIpv4;
using device::kTestIpv6;
using device::kTestPeer;

const Gid kPeer6{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}};

class AhFromWc : public FaceTest {
 protected:
  AhFromWc() {
    pd_ = ibv_alloc_pd(context_);
    EXPECT_NE(pd_, nullptr);
    wc_.wc_flags = IBV_WC_GRH;
    wc_.sl = 3;
  }
  ~AhFromWc() override { EXPECT_EQ(ibv_dealloc_pd(pd_), 0); }

  // A datagram as it lies in a receive buffer.
  void receive(const Gid& from, const Gid& to, uint8_t protocol = wire::kProtocolUdp) {
    wire::IpFields fields;
    fields.source = from;
    fields.destination = to;
    fields.protocol = protocol;
    fields.traffic_class = 0xAB;
    fields.hop_limit = 63;
    fields.flow_label = 0x12345;
    area_.fill(0);
    wire::store_ip(area_.data() + area_.size() - wire::ip_header_bytes(fields), fields, 100);
  }
  ibv_grh* grh() { return reinterpret_cast<ibv_grh*>(area_.data()); }
  void expect_refused(int error) {
    errno = 0;
    EXPECT_EQ(ibv_init_ah_from_wc(context_, 1, &wc_, grh(), &attr_), -1);
    EXPECT_EQ(errno, error);
    EXPECT_EQ(ibv_create_ah_from_wc(pd_, &wc_, grh(), 1), nullptr);
    EXPECT_EQ(errno, error);
  }

  ibv_pd* pd_ = nullptr;
  ibv_wc wc_{};
  ibv_ah_attr attr_{};
  std::array<uint8_t, 40> area_{};
};

TEST_F(AhFromWc, OfAnIpv4DatagramIsItsSource) {
  receive(kTestPeer, kTestIpv4);
  ASSERT_EQ(ibv_init_ah_from_wc(context_, 1, &wc_, grh(), &attr_), 0);
  EXPECT_EQ(to_gid(attr_.grh.dgid), kTestPeer);
  EXPECT_EQ(attr_.grh.sgid_index, 1);
  EXPECT_EQ(attr_.grh.hop_limit, 63);
  EXPECT_EQ(attr_.grh.traffic_class, 0xAB);
  EXPECT_EQ(attr_.grh.flow_label, 0u);
  EXPECT_EQ(attr_.is_global, 1);
  EXPECT_EQ(attr_.sl, 3);
  EXPECT_EQ(attr_.port_num, 1);
}

TEST_F(AhFromWc, OfAnIpv6DatagramHasItsLabelToo) {
  receive(kPeer6, kTestIpv6);
  ASSERT_EQ(ibv_init_ah_from_wc(context_, 1, &wc_, grh(), &attr_), 0);
  EXPECT_EQ(to_gid(attr_.grh.dgid), kPeer6);
  EXPECT_EQ(attr_.grh.sgid_index, 2);
  EXPECT_EQ(attr_.grh.flow_label, 0x12345u);
  EXPECT_EQ(attr_.grh.traffic_class, 0xAB);
}

TEST_F(AhFromWc, IsRefusedWhereThereIsNoWayBack) {
  receive(kTestPeer, kTestIpv4);
  wc_.wc_flags = 0;
  expect_refused(EINVAL);
  wc_.wc_flags = IBV_WC_GRH;
  receive(kTestPeer, kTestPeer);
  expect_refused(ENOENT);
  receive(kTestPeer, device::kTestGroup);
  expect_refused(ENOENT);
  receive(kPeer6, kTestIpv6, 0x1b);  // RoCEv1
  expect_refused(EPROTONOSUPPORT);
  area_.fill(0);
  expect_refused(EPROTONOSUPPORT);
  receive(kTestPeer, kTestIpv4);
  EXPECT_EQ(ibv_init_ah_from_wc(context_, 2, &wc_, grh(), &attr_), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(AhFromWc, OfADeviceThatDoesNotRunHasNothingReceived) {
  receive(kTestPeer, kTestIpv4);
  ibv_context* const idle = ibv_open_device(devices_[1]);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(ibv_init_ah_from_wc(idle, 1, &wc_, grh(), &attr_), -1);
  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(ibv_close_device(idle), 0);
}

TEST_F(AhFromWc, IsAHandleLikeAnyOther) {
  receive(kTestIpv4, kTestIpv4);
  ibv_ah* const ah = ibv_create_ah_from_wc(pd_, &wc_, grh(), 1);
  ASSERT_NE(ah, nullptr);
  EXPECT_EQ(ah->pd, pd_);
  EXPECT_EQ(of(ah).object->attributes.dmac, device::kTestMac);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
