// SPDX-License-Identifier: BSD-3-Clause
// Tests of the enumeration of ports and of what they are able to do.
#include <gtest/gtest.h>

#include "verbs/driver.h"
#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class PortTest : public FaceTest {};

// CP-01, CP-02, CP-03, CP-04.
TEST_F(PortTest, ThereIsOneAndItIsNumberOne) {
  EXPECT_FALSE(rdma_cap_ib_switch(ibdev_));
  EXPECT_EQ(rdma_start_port(ibdev_), 1u);
  EXPECT_EQ(rdma_end_port(ibdev_), 1u);
  EXPECT_FALSE(rdma_is_port_valid(ibdev_, 0));
  EXPECT_TRUE(rdma_is_port_valid(ibdev_, 1));
  EXPECT_FALSE(rdma_is_port_valid(ibdev_, 2));
  std::vector<__u32> seen;
  __u32 port = 0;
  rdma_for_each_port(ibdev_, port) seen.push_back(port);
  EXPECT_EQ(seen, std::vector<__u32>{1});
  ib_device two{};
  two.phys_port_cnt = 2;
  seen.clear();
  rdma_for_each_port(&two, port) seen.push_back(port);
  EXPECT_EQ(seen, (std::vector<__u32>{1, 2}));
}

// CP-05, CP-06, CP-07, CP-08, CP-09, CP-10, CP-12, CP-13, CP-14, CP-15, CP-17, CP-18.
TEST_F(PortTest, SpeaksRoceV2AndNothingElse) {
  EXPECT_EQ(RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP, 0x00803005);
  EXPECT_TRUE(rdma_cap_ib_mad(ibdev_, 1));
  EXPECT_FALSE(rdma_cap_opa_mad(ibdev_, 1));
  EXPECT_FALSE(rdma_cap_ib_smi(ibdev_, 1));
  ib_qp_init_attr smi = init(IB_QPT_SMI);
  EXPECT_EQ(PTR_ERR(ib_create_qp(pd_, &smi)), -EOPNOTSUPP);
  EXPECT_TRUE(rdma_cap_ib_cm(ibdev_, 1));
  EXPECT_FALSE(rdma_cap_iw_cm(ibdev_, 1));
  EXPECT_FALSE(rdma_cap_ib_sa(ibdev_, 1));
  EXPECT_TRUE(rdma_cap_af_ib(ibdev_, 1));
  EXPECT_TRUE(rdma_cap_eth_ah(ibdev_, 1));
  EXPECT_FALSE(rdma_cap_opa_ah(ibdev_, 1));
  EXPECT_EQ(rdma_max_mad_size(ibdev_, 1), 256u);
  EXPECT_FALSE(rdma_core_cap_opa_port(ibdev_, 1));
  EXPECT_EQ(rdma_ah_find_type(ibdev_, 1), RDMA_AH_ATTR_TYPE_ROCE);
  EXPECT_TRUE(rdma_protocol_roce_udp_encap(ibdev_, 1));
  EXPECT_TRUE(rdma_protocol_roce(ibdev_, 1));
  EXPECT_FALSE(rdma_protocol_ib(ibdev_, 1));
  EXPECT_FALSE(rdma_protocol_iwarp(ibdev_, 1));
  EXPECT_EQ(rdma_port_get_link_layer(ibdev_, 1), IB_LINK_LAYER_ETHERNET);
}

// CP-11: there is nobody to ask for membership, and none is needed.
TEST_F(PortTest, GroupsNeedNoAdministrator) {
  EXPECT_FALSE(rdma_cap_ib_mcast(ibdev_, 1));
  ib_qp* qp = make(IB_QPT_UD);
  ib_gid gid = gid_of(device::kTestGroup);
  EXPECT_EQ(ib_attach_mcast(qp, &gid, 0), 0);
  EXPECT_EQ(ib_detach_mcast(qp, &gid, 0), 0);
}

// ND-01.
TEST_F(PortTest, NoNetworkDeviceIsMade) {
  for (const auto type : {RDMA_NETDEV_IPOIB, RDMA_NETDEV_OPA_VNIC}) {
    EXPECT_EQ(PTR_ERR(rdma_alloc_netdev(ibdev_, 1, type, "ib%d", 0, nullptr)), -EOPNOTSUPP);
  }
}

// CP-16.
TEST_F(PortTest, ATableOfGidsIsADevicesWithBothFunctions) {
  EXPECT_FALSE(rdma_cap_roce_gid_table(ibdev_, 1)) << "ours is made of the port's addresses";
  ib_device_ops ops{};
  ib_device stub{};
  stub.ops = &ops;
  const auto told = [](const ib_gid_attr*, void**) { return 0; };
  ops.add_gid = told;
  EXPECT_FALSE(rdma_cap_roce_gid_table(&stub, 1));
  ops.del_gid = told;
  EXPECT_TRUE(rdma_cap_roce_gid_table(&stub, 1));
  ops.add_gid = nullptr;
  EXPECT_FALSE(rdma_cap_roce_gid_table(&stub, 1));
}

// MT-01, MT-02, MT-03, MT-04.
TEST(PortMtu, EnumerationAndBytes) {
  const int bytes[] = {-1, 256, 512, 1024, 2048, 4096, -1, -1};
  for (int mtu = 0; mtu < 8; ++mtu) {
    EXPECT_EQ(rdma_mtu_enum_to_int(nullptr, 1, mtu), bytes[mtu]) << mtu;
  }
  EXPECT_EQ(rdma_mtu_enum_to_int(nullptr, 1, -1), -1);
  ib_port_attr attr{};
  attr.max_mtu = IB_MTU_4096;
  attr.active_mtu = IB_MTU_1024;
  attr.phys_mtu = 9000;
  EXPECT_EQ(rdma_mtu_from_attr(nullptr, 1, &attr), 4096);
  attr.max_mtu = static_cast<ib_mtu>(0);
  EXPECT_EQ(rdma_mtu_from_attr(nullptr, 1, &attr), -1);
  EXPECT_EQ(ib_mtu_int_to_enum(4095), IB_MTU_2048);
  EXPECT_EQ(ib_mtu_int_to_enum(4096), IB_MTU_4096);
  EXPECT_EQ(ib_mtu_int_to_enum(9000), IB_MTU_4096);
  EXPECT_EQ(ib_mtu_int_to_enum(0), IB_MTU_256);
}

// DV-04, DV-05.
TEST(DeviceParts, LeadBackToTheDevice) {
  struct Mine {
    int before;
    ib_device ibdev;
  };
  Mine mine{};
  EXPECT_EQ(rdma_device_to_ibdev(&mine.ibdev.dev), &mine.ibdev);
  EXPECT_EQ(rdma_device_to_drv_device(&mine.ibdev.dev, Mine, ibdev), &mine);
}

// DV-06, DV-07.
TEST(DeviceParts, TheNodeIsThatOfThePort) {
  for (const int node : {-1, 0}) {
    device::TestBed bed;
    bed.port.port.numa_node = node;
    ib_device* device = open_device(bed.device());
    EXPECT_EQ(ibdev_to_node(device), node);
    close_device(device);
  }
}

}  // namespace
}  // namespace uroce::verbs
