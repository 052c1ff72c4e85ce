// SPDX-License-Identifier: BSD-3-Clause
// Tests of the header before a datagram, and of addresses made of a completion.
#include <gtest/gtest.h>

#include <string>

#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

// 10.0.0.1 to 10.0.0.2, UDP; the checksum is right.
const std::string kIpv4 = "4500003c00004000401126af0a0000010a000002";
const std::string kZeros(40, '0');

rdma_network_hdr header_of(const std::string& hex) {
  rdma_network_hdr header{};
  auto* bytes = reinterpret_cast<__u8*>(&header);
  for (size_t i = 0; i < hex.size() / 2; ++i) {
    bytes[i] = static_cast<__u8>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  }
  return header;
}

std::string with_first(std::string hex, const char* byte) { return hex.replace(0, 2, byte); }

// HV-01 … HV-07, E2-01 … E2-08.
TEST(NetworkHeader, VersionByTheKernelsVectors) {
  const std::string six = with_first(kZeros, "60");
  std::string wrong_sum = kIpv4;
  wrong_sum.replace(20, 4, "26ae");
  const std::string real6 =
      "600000000028114020010db80000000000000000"
      "0000000120010db8000000000000000000000002";
  std::string real6_five = real6;  // IHL of 5 by chance, and a checksum that is none
  real6_five.replace(40, 2, "05");
  const std::pair<std::string, int> vectors[] = {
      {kZeros + kIpv4, 4},  {six + kIpv4, 4},
      {six + wrong_sum, 6}, {six + with_first(kIpv4, "46"), 6},
      {kZeros + six, 0},    {kZeros + wrong_sum, 4},
      {real6, 6},           {with_first(kZeros, "45") + kIpv4, 4},
      {real6_five, 6},
  };
  for (const auto& [hex, version] : vectors) {
    const rdma_network_hdr header = header_of(hex);
    EXPECT_EQ(ib_get_rdma_header_version(&header), version) << hex;
  }
}

// GH-01, GH-02, GH-03, GH-04.
TEST(NetworkHeader, GidsOfBothVersions) {
  rdma_network_hdr header = header_of(kZeros + "4500003c00004000401126af0a000001ef010101");
  ib_gid sgid{};
  ib_gid dgid{};
  EXPECT_EQ(ib_get_gids_from_rdma_hdr(&header, RDMA_NETWORK_IPV4, &sgid, &dgid), 0);
  EXPECT_EQ(to_gid(sgid), Gid::from_ipv4(0x0A000001));
  EXPECT_EQ(to_gid(dgid), Gid::from_ipv4(0xEF010101));
  for (const auto type : {RDMA_NETWORK_IPV6, RDMA_NETWORK_IB, RDMA_NETWORK_ROCE_V1}) {
    for (__u8 i = 0; i < 16; ++i) {
      header.ibgrh.sgid.raw[i] = i;
      header.ibgrh.dgid.raw[i] = static_cast<__u8>(0x80 + i);
    }
    EXPECT_EQ(ib_get_gids_from_rdma_hdr(&header, type, &sgid, &dgid), 0);
    EXPECT_EQ(sgid.raw[15], 15);
    EXPECT_EQ(dgid.raw[0], 0x80);
  }
  for (const int none : {4, -1}) {
    const auto type = static_cast<rdma_network_type>(none);
    EXPECT_EQ(ib_get_gids_from_rdma_hdr(&header, type, &sgid, &dgid), -EINVAL) << none;
  }
  EXPECT_EQ(ib_get_gids_from_rdma_hdr(&header, RDMA_NETWORK_IPV6, nullptr, &dgid), -EINVAL);
  EXPECT_EQ(ib_get_gids_from_rdma_hdr(&header, RDMA_NETWORK_IPV6, &sgid, nullptr), -EINVAL);
}

class WayBack : public FaceTest {
 protected:
  // A datagram from the peer to 10.0.0.1, as it lies in a receive buffer.
  WayBack() : header_(header_of(kZeros + "4500003c00004000401126ae0a0000020a000001")) {
    wc_.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE | IB_WC_WITH_SMAC;
    wc_.network_hdr_type = RDMA_NETWORK_IPV4;
    wc_.sl = 2;
    wc_.smac[0] = 2;
    wc_.smac[5] = 7;
    wc_.vlan_id = 0xFFFF;
  }
  void make_ipv6(const Gid& from, const Gid& to) {
    wc_.network_hdr_type = RDMA_NETWORK_IPV6;
    const __u8 word[] = {0x6a, 0xb1, 0x23, 0x45};
    std::memcpy(&header_.ibgrh.version_tclass_flow, word, 4);
    header_.ibgrh.next_hdr = 17;
    header_.ibgrh.sgid = gid_of(from);
    header_.ibgrh.dgid = gid_of(to);
  }
  int init_attr() { return ib_init_ah_attr_from_wc(ibdev_, 1, &wc_, &header_.ibgrh, &attr_); }
  long create() {
    ib_ah* ah = ib_create_ah_from_wc(pd_, &wc_, &header_.ibgrh, 1);
    if (IS_ERR(ah)) return PTR_ERR(ah);
    return rdma_destroy_ah(ah, 0);
  }

  rdma_network_hdr header_;
  ib_wc wc_{};
  rdma_ah_attr attr_{};
};

// AW-01.
TEST_F(WayBack, OfAnIpv4DatagramIsItsSource) {
  ASSERT_EQ(init_attr(), 0);
  EXPECT_EQ(attr_.type, RDMA_AH_ATTR_TYPE_ROCE);
  EXPECT_EQ(to_gid(attr_.grh.dgid), device::kTestPeer);
  EXPECT_EQ(attr_.grh.sgid_index, 1);
  EXPECT_EQ(attr_.grh.sgid_attr, nullptr);
  EXPECT_EQ(attr_.grh.hop_limit, 64);
  EXPECT_EQ(attr_.grh.flow_label, 0u);
  EXPECT_EQ(attr_.grh.traffic_class, 0);
  EXPECT_EQ(attr_.sl, 2);
  EXPECT_EQ(attr_.port_num, 1u);
  EXPECT_EQ(attr_.ah_flags, IB_AH_GRH);
  EXPECT_EQ(std::memcmp(attr_.roce.dmac, wc_.smac, 6), 0);
  wc_.wc_flags &= ~IB_WC_WITH_NETWORK_HDR_TYPE;
  ASSERT_EQ(init_attr(), 0) << "the header tells its version";
  EXPECT_EQ(to_gid(attr_.grh.dgid), device::kTestPeer);
  EXPECT_EQ(ib_init_ah_attr_from_wc(ibdev_, 2, &wc_, &header_.ibgrh, &attr_), -EINVAL);
}

// AW-02.
TEST_F(WayBack, OfAnIpv6DatagramHasItsClassAndLabel) {
  const Gid peer{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  make_ipv6(peer, device::kTestIpv6);
  for (const int flags : {wc_.wc_flags, wc_.wc_flags & ~IB_WC_WITH_NETWORK_HDR_TYPE}) {
    wc_.wc_flags = flags;
    ASSERT_EQ(init_attr(), 0);
    EXPECT_EQ(to_gid(attr_.grh.dgid), peer);
    EXPECT_EQ(attr_.grh.sgid_index, 2);
    EXPECT_EQ(attr_.grh.traffic_class, 0xab);
    EXPECT_EQ(attr_.grh.flow_label, 0x12345u);
  }
  header_.ibgrh.next_hdr = 0x1b;
  EXPECT_EQ(init_attr(), -ENOENT) << "RoCEv1, of which there are no addresses";
}

// AW-03, AW-04, AW-05, AW-06, AW-11.
TEST_F(WayBack, IsRefusedWhereThereIsNone) {
  const auto both = [this](int error) {
    EXPECT_EQ(init_attr(), error);
    EXPECT_EQ(create(), error);
  };
  const ib_wc good = wc_;
  wc_.wc_flags &= ~IB_WC_GRH;
  both(-EPROTOTYPE);
  wc_ = good;
  wc_.wc_flags |= IB_WC_WITH_VLAN;
  wc_.vlan_id = 42;
  both(-ENOENT);
  wc_ = good;
  const auto to = [this](std::initializer_list<__u8> address) {
    std::copy(address.begin(), address.end(), reinterpret_cast<__u8*>(&header_.roce4grh.daddr));
  };
  to({10, 0, 0, 9});
  both(-ENOENT);
  to({239, 1, 2, 3});
  both(-ENOENT);
  EXPECT_EQ(of(pd_).object->use_count, 0u);
  to({10, 0, 0, 1});
  EXPECT_EQ(create(), 0);
  EXPECT_EQ(of(pd_).object->use_count, 0u);
}

// AW-05: on a port with a VLAN its own tag is the right one.
TEST_F(WayBack, ThroughAVlan) {
  bed_.port.port.vlan_id = 42;
  EXPECT_EQ(init_attr(), -ENOENT);
  wc_.wc_flags |= IB_WC_WITH_VLAN;
  wc_.vlan_id = 42;
  EXPECT_EQ(init_attr(), 0);
  wc_.vlan_id = 43;
  EXPECT_EQ(init_attr(), -ENOENT);
}

// AW-10.
TEST_F(WayBack, AnAnswerReachesTheSender) {
  ib_qp* asker = make(IB_QPT_UD);
  ib_qp* echo = make(IB_QPT_UD);
  bring_to(asker, IB_QPS_RTS);
  bring_to(echo, IB_QPS_RTS);
  __u8* const at = memory_.data() + 4096;
  ASSERT_EQ(post_recv(echo, at, 1024, 1), 0);
  ASSERT_EQ(post_recv(asker, at + 1024, 1024, 2), 0);
  memory_[0] = 0x5A;
  ASSERT_EQ(
      post_datagram(asker, handle_to(device::kTestIpv4), echo->qp_num, memory_.data(), 8, 3, 0), 0);
  auto done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  ib_ah* back =
      ib_create_ah_from_wc(pd_, done.data(), reinterpret_cast<const ib_grh*>(at), done[0].port_num);
  ASSERT_FALSE(IS_ERR(back)) << PTR_ERR(back);
  ASSERT_EQ(post_datagram(echo, back, done[0].src_qp, at + 40, 8, 4, 0), 0);
  done = settle_and_poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].qp, asker);
  EXPECT_EQ(at[1024 + 40], 0x5A);
  EXPECT_EQ(rdma_destroy_ah(back, 0), 0);
}

}  // namespace
}  // namespace uroce::verbs
