// SPDX-License-Identifier: BSD-3-Clause
// Tests of devices, ports and protection domains of the native face.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "device/live_objects.h"
#include "verbs/face_fixture.h"

namespace uroce::verbs {
namespace {

class DeviceTest : public FaceTest {};

TEST_F(DeviceTest, AttributesAreTheLimitsThatHold) {
  EXPECT_EQ(std::string(ibdev_->name), "uroce0");
  ib_device_attr attr{};
  EXPECT_EQ(ib_query_device(ibdev_, &attr), 0);
  EXPECT_EQ(attr.max_qp, 64);
  EXPECT_EQ(attr.max_qp_init_rd_atom, 16);
  EXPECT_EQ(attr.atomic_cap, IB_ATOMIC_GLOB);
  EXPECT_NE(attr.device_cap_flags & IB_DEVICE_ATOMIC_WRITE, 0u);
  ib_qp_init_attr most = init(IB_QPT_RC);
  most.cap.max_send_wr = static_cast<__u32>(attr.max_qp_wr);
  most.cap.max_send_sge = static_cast<__u32>(attr.max_send_sge);
  ib_qp* qp = ib_create_qp(pd_, &most);
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(ib_destroy_qp(qp), 0);
}

TEST_F(DeviceTest, PortAttributesFollowThePort) {
  ib_port_attr attr{};
  EXPECT_EQ(ib_query_port(ibdev_, 0, &attr), -EINVAL);
  EXPECT_EQ(ib_query_port(ibdev_, 2, &attr), -EINVAL);
  ASSERT_EQ(ib_query_port(ibdev_, 1, &attr), 0);
  EXPECT_EQ(attr.state, IB_PORT_ACTIVE);
  EXPECT_EQ(attr.active_mtu, IB_MTU_4096);
  EXPECT_EQ(attr.phys_mtu, 4096u + 84);
  EXPECT_EQ(attr.max_msg_sz, 1u << 31);
  EXPECT_EQ(attr.active_width, IB_WIDTH_4X);
  EXPECT_EQ(attr.active_speed, IB_SPEED_EDR);
  bed_.port.port.link_up = false;
  ASSERT_EQ(ib_query_port(ibdev_, 1, &attr), 0);
  EXPECT_EQ(attr.state, IB_PORT_DOWN);
}

// Cases 73; GT-01, GT-03.
TEST_F(DeviceTest, GidsAndPkeys) {
  ib_gid gid{};
  ASSERT_EQ(rdma_query_gid(ibdev_, 1, 1, &gid), 0);
  EXPECT_EQ(to_gid(gid), device::kTestIpv4);
  EXPECT_EQ(ib_query_gid(ibdev_, 1, 3, &gid), -ENODATA);
  EXPECT_EQ(rdma_query_gid(ibdev_, 1, 4096, &gid), -EINVAL);
  EXPECT_EQ(rdma_query_gid(ibdev_, 2, 0, &gid), -EINVAL);
  __u32 port = 0;
  __u16 index = 0;
  gid = gid_of(device::kTestIpv6);
  EXPECT_EQ(ib_find_gid(ibdev_, &gid, &port, &index), 0);
  EXPECT_EQ(port, 1u);
  EXPECT_EQ(index, 2);
  gid = gid_of(device::kTestPeer);
  EXPECT_EQ(ib_find_gid(ibdev_, &gid, nullptr, nullptr), -ENOENT);
  bed_.port.list.push_back({device::kTestPeer, 24});
  rdma_roce_rescan_device(ibdev_);
  EXPECT_EQ(ib_find_gid(ibdev_, &gid, nullptr, &index), 0);
  EXPECT_EQ(index, 3);
  __u16 pkey = 0;
  EXPECT_EQ(ib_query_pkey(ibdev_, 1, 0, &pkey), 0);
  EXPECT_EQ(pkey, 0xFFFF);
  EXPECT_EQ(ib_query_pkey(ibdev_, 1, 1, &pkey), -EINVAL);
}

// Case 73: an address that goes is an event, its entry is empty, and the others stay.
TEST_F(DeviceTest, AnAddressThatGoesIsToldAndItsEntryIsEmpty) {
  struct Subscriber : ib_event_handler {
    std::vector<ib_event_type> seen;
  } subscriber;
  INIT_IB_EVENT_HANDLER(&subscriber, ibdev_, [](ib_event_handler* self, ib_event* event) {
    static_cast<Subscriber*>(self)->seen.push_back(event->event);
  });
  ib_register_event_handler(&subscriber);
  bed_.port.list.erase(bed_.port.list.begin());
  rdma_roce_rescan_device(ibdev_);
  ib_unregister_event_handler(&subscriber);
  EXPECT_EQ(subscriber.seen, std::vector{IB_EVENT_GID_CHANGE});
  ib_gid gid{};
  EXPECT_EQ(rdma_query_gid(ibdev_, 1, 1, &gid), -ENODATA);
  ASSERT_EQ(rdma_query_gid(ibdev_, 1, 2, &gid), 0);
  EXPECT_EQ(to_gid(gid), device::kTestIpv6);
  gid = gid_of(device::kTestIpv4);
  EXPECT_EQ(ib_find_gid(ibdev_, &gid, nullptr, nullptr), -ENOENT);
  rdma_ah_attr attr = to(device::kTestPeer);
  EXPECT_EQ(PTR_ERR(rdma_create_ah(pd_, &attr, 0)), -ENODATA);
}

// Case 74: there is one kind of address, RoCEv2, so each is there once, and none is empty.
TEST_F(DeviceTest, NoAddressIsListedTwiceOrEmpty) {
  ib_port_attr port{};
  ASSERT_EQ(ib_query_port(ibdev_, 1, &port), 0);
  std::vector<Gid> seen;
  for (int index = 0; index < port.gid_tbl_len; ++index) {
    ib_gid raw{};
    const int error = rdma_query_gid(ibdev_, 1, index, &raw);
    if (error == -ENODATA) continue;
    ASSERT_EQ(error, 0);
    EXPECT_NE(to_gid(raw), Gid{}) << index;
    EXPECT_EQ(std::ranges::count(seen, to_gid(raw)), 0) << index;
    seen.push_back(to_gid(raw));
  }
  EXPECT_EQ(seen.size(), 3u) << "the link-local address, IPv4 and IPv6";
}

// PD-01, PD-04, PD-05.
TEST_F(DeviceTest, ProtectionDomains) {
  EXPECT_EQ(PTR_ERR(ib_alloc_pd(ibdev_, IB_PD_UNSAFE_GLOBAL_RKEY)), -EINVAL);
  ib_pd* pd = ib_alloc_pd(ibdev_, 0);
  ASSERT_FALSE(IS_ERR(pd));
  EXPECT_NE(pd->local_dma_lkey, 0u);
  EXPECT_NE(pd->local_dma_lkey, pd_->local_dma_lkey);
  ib_qp_init_attr attr = init(IB_QPT_UD);
  ib_qp* qp = ib_create_qp(pd, &attr);
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(ib_dealloc_pd(pd), -EBUSY);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  EXPECT_EQ(ib_dealloc_pd(pd), 0);
}

// A program stops without destroying what it has made. LeakSanitizer, under which these tests run
// as well, looks for the memory.
TEST(DeviceEnd, HandlesThatAreLeftAreFreedAndGetNoEvents) {
  uint8_t memory[64];
  device::TestBed bed;
  ib_device* device = open_device(bed.device());
  ASSERT_EQ(bed.device().start(), 0);
  ib_pd* pd = ib_alloc_pd(device, 0);
  const auto start = reinterpret_cast<__u64>(memory);
  ASSERT_FALSE(IS_ERR(ib_reg_user_mr(pd, start, sizeof memory, start, IB_ACCESS_LOCAL_WRITE)));
  rdma_ah_attr to{};
  ib_gid gid;
  from_gid(device::kTestGroup, gid);
  rdma_ah_set_grh(&to, &gid, 0, 1, 64, 0);
  rdma_ah_set_port_num(&to, 1);
  ASSERT_FALSE(IS_ERR(rdma_create_ah(pd, &to, 0)));
  const ib_cq_init_attr attr{.cqe = 16, .comp_vector = 0, .flags = 0};
  ib_cq* cq = ib_create_cq(device, nullptr, nullptr, nullptr, &attr);
  ib_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IB_QPT_RC;
  ib_qp* qp = ib_create_qp(pd, &init);
  ASSERT_FALSE(IS_ERR(qp));
  EXPECT_EQ(bed.device().shut_down(), 0);
  close_device(device);
  EXPECT_FALSE(device::LiveObjects::instance().enter(cq));
  EXPECT_FALSE(device::LiveObjects::instance().enter(qp));
}

}  // namespace
}  // namespace uroce::verbs
