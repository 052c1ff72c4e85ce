// SPDX-License-Identifier: BSD-3-Clause
// Tests of attach and detach of the native face, and of the packets that follow from them.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "group/mgid.h"
#include "verbs/face_fixture.h"
#include "wire/parse.h"

namespace uroce::verbs {
namespace {

class McastTest : public FaceTest {
 protected:
  explicit McastTest(const device::TestBedOptions& options = {}) : FaceTest(options) {}
  int attach(ib_qp* qp, const Gid& group, __u16 lid = 0) {
    ib_gid gid = gid_of(group);
    return ib_attach_mcast(qp, &gid, lid);
  }
  int detach(ib_qp* qp, const Gid& group, __u16 lid = 0) {
    ib_gid gid = gid_of(group);
    return ib_detach_mcast(qp, &gid, lid);
  }
  ib_qp* listener(int buffers) {
    ib_qp* qp = make(IB_QPT_UD);
    bring_to(qp, IB_QPS_RTR);
    for (int i = 0; i < buffers; ++i) {
      EXPECT_EQ(post_recv(qp, memory_.data() + 4096, 1024, 100), 0);
    }
    return qp;
  }
  // Sends one message to the group and counts what each listener got.
  size_t received(ib_qp* sender, ib_ah* ah, const ib_qp* by) {
    EXPECT_EQ(post_datagram(sender, ah, 0x55, memory_.data(), 64, 1, 0), 0);
    size_t count = 0;
    for (const ib_wc& wc : settle_and_poll()) {
      EXPECT_EQ(wc.status, IB_WC_SUCCESS);
      EXPECT_EQ(wc.byte_len, 64u + 40);
      count += wc.qp == by ? 1 : 0;
    }
    return count;
  }
  size_t sent_in_five_seconds() {
    for (int i = 0; i < 50; ++i) {
      bed_.settle(3);
      bed_.pass(std::chrono::milliseconds(100));
    }
    return std::exchange(bed_.wire, {}).size();
  }
  // One packet has left since the last look, and nobody was asked for its MAC address.
  void expect_one_group_frame(const Gid& group) {
    int packets = 0;
    for (const auto& frame : std::exchange(bed_.wire, {})) {
      wire::L3Info info;
      const wire::FrameKind kind = wire::classify(frame, {}, info);
      EXPECT_NE(kind, wire::FrameKind::kArp);
      EXPECT_NE(kind, wire::FrameKind::kNd);
      if (kind != wire::FrameKind::kRoce) continue;  // a report of the join
      ++packets;
      wire::ParsedFrame parsed{};
      ASSERT_EQ(wire::parse_roce(frame, {}, parsed), wire::Drop::kNone);
      EXPECT_EQ(parsed.dest_qpn, kMulticastQpn);
      EXPECT_EQ(parsed.destination_mac(), group::mac_of(group));
      EXPECT_EQ(parsed.traffic_class(), 0);
      EXPECT_EQ(parsed.hop_limit(), 64);
      EXPECT_EQ(parsed.flow_label(), 0u);
    }
    EXPECT_EQ(packets, 1);
  }
};

// MC-02, MC-04, MC-06, MC-07, MC-10, MC-23, MC-24.
TEST_F(McastTest, OrderOfChecksAndEveryLid) {
  ib_qp* ud = make(IB_QPT_UD);
  ib_qp* rc = make(IB_QPT_RC);
  EXPECT_EQ(attach(ud, device::kTestIpv4), -EINVAL);
  EXPECT_EQ(detach(ud, device::kTestIpv4), -EINVAL);
  EXPECT_EQ(attach(rc, device::kTestGroup), -EINVAL);
  EXPECT_EQ(detach(rc, device::kTestGroup), -EINVAL);
  for (const int lid : {0x0, 0xBFFF, 0xC000, 0xFFFE, 0xFFFF}) {
    EXPECT_EQ(attach(ud, device::kTestGroup, static_cast<__u16>(lid)), 0) << lid;
    EXPECT_EQ(detach(ud, device::kTestGroup), 0);
  }
}

// MC-26, MC-30, MC-31, MC-32.
TEST_F(McastTest, MembershipIsASetAndKeepsTheQueuePair) {
  ib_qp* qp = make(IB_QPT_UD);
  EXPECT_EQ(attach(qp, device::kTestGroup, 1), 0);
  EXPECT_EQ(attach(qp, device::kTestGroup, 2), 0);
  EXPECT_EQ(ib_destroy_qp(qp), -EBUSY);
  EXPECT_EQ(detach(qp, device::kTestGroup, 3), 0);
  EXPECT_EQ(detach(qp, device::kTestGroup, 1), -EINVAL);
  EXPECT_EQ(ib_destroy_qp(qp), 0);
  forget(qp);
}

// MC-09, MC-22, MC-25, MC-27.
TEST_F(McastTest, EveryMemberGetsOneCopyAndADetachedOneNone) {
  ib_qp* sender = make(IB_QPT_UD);
  bring_to(sender, IB_QPS_RTS);
  ib_qp* a = listener(8);
  ib_qp* b = listener(8);
  ib_ah* ah = handle_to(device::kTestGroup);
  EXPECT_EQ(received(sender, ah, a), 0u);
  ASSERT_EQ(attach(a, device::kTestGroup), 0);
  ASSERT_EQ(attach(a, device::kTestGroup), 0);
  ASSERT_EQ(attach(b, device::kTestGroup), 0);
  ASSERT_EQ(attach(a, device::kTestGroup6), 0);
  EXPECT_EQ(received(sender, ah, a), 1u);
  EXPECT_EQ(received(sender, ah, b), 1u);
  ASSERT_EQ(detach(a, device::kTestGroup), 0);
  EXPECT_EQ(received(sender, ah, a), 0u);
  EXPECT_EQ(received(sender, ah, b), 1u);
  EXPECT_EQ(received(sender, handle_to(device::kTestGroup6, 2), a), 1u) << "the other group stays";
  EXPECT_EQ(detach(b, device::kTestGroup), 0);
  EXPECT_EQ(detach(a, device::kTestGroup6), 0);
}

// Case 67: an address handle without a wish for class, label or hop limit, made again and again in
// memory that is full of other things. Case 64: whatever number the request says.
TEST_F(McastTest, AGroupsFramesAreTheSameEveryTime) {
  ib_qp* sender = make(IB_QPT_UD);
  bring_to(sender, IB_QPS_RTS);
  ib_qp* member = make(IB_QPT_UD);
  bring_to(member, IB_QPS_RTR);
  bed_.settle();
  bed_.wire.clear();
  for (int round = 0; round < 100; ++round) {
    const Gid group = round % 2 == 0 ? device::kTestGroup : device::kTestGroup6;
    std::vector<std::vector<uint8_t>> dirt;
    for (size_t bytes = 16; bytes <= 4096; bytes *= 2) dirt.emplace_back(bytes, 0x99);
    dirt.clear();
    ASSERT_EQ(attach(member, group), 0);
    rdma_ah_attr attr{};
    attr.type = RDMA_AH_ATTR_TYPE_ROCE;
    ib_gid raw = gid_of(group);
    rdma_ah_set_grh(&attr, &raw, 0, group.is_ipv4() ? 1 : 2, 0, 0);
    rdma_ah_set_port_num(&attr, 1);
    ib_ah* ah = rdma_create_ah(pd_, &attr, 0);
    ASSERT_FALSE(IS_ERR(ah));
    ASSERT_EQ(post_datagram(sender, ah, 0x11, memory_.data(), 64, 1, 0), 0);
    bed_.settle(10);
    EXPECT_EQ(rdma_destroy_ah(ah, 0), 0);
    EXPECT_EQ(detach(member, group), 0);
    expect_one_group_frame(group);
  }
}

// Case 67: a join that fails is not told to the network.
TEST_F(McastTest, AJoinThatFailsSendsNoReport) {
  ib_qp* ud = make(IB_QPT_UD);
  ib_qp* rc = make(IB_QPT_RC);
  EXPECT_GT(sent_in_five_seconds(), 0u) << "of the port's own addresses";
  for (const Gid& group : {device::kTestGroup, device::kTestGroup6}) {
    bed_.port.filter_error = -EIO;
    EXPECT_EQ(attach(ud, group), -EIO);
    bed_.port.filter_error = 0;
    EXPECT_EQ(attach(rc, group), -EINVAL);
    EXPECT_EQ(sent_in_five_seconds(), 0u);
    EXPECT_EQ(detach(ud, group), -EINVAL);
    ASSERT_EQ(attach(ud, group), 0);
    EXPECT_EQ(sent_in_five_seconds(), 2u) << "the one that succeeds is told, and told again";
    ASSERT_EQ(detach(ud, group), 0);
    EXPECT_EQ(sent_in_five_seconds(), 2u);
  }
}

class McastWithLimitsOfRxe : public McastTest {
 protected:
  McastWithLimitsOfRxe() : McastTest({.limits = {.group_qp_max = 56}}) {}
};

// MC-08.
TEST_F(McastWithLimitsOfRxe, The57thMemberIsOneTooMany) {
  EXPECT_EQ(ibdev_->attrs.max_mcast_qp_attach, 56);
  std::vector<ib_qp*> members;
  members.reserve(57);
  for (int i = 0; i < 57; ++i) members.push_back(make(IB_QPT_UD));
  for (size_t i = 0; i < 56; ++i) ASSERT_EQ(attach(members[i], device::kTestGroup), 0) << i;
  EXPECT_EQ(attach(members[56], device::kTestGroup), -ENOMEM);
  EXPECT_EQ(attach(members[0], device::kTestGroup), 0) << "it is one already";
  ASSERT_EQ(detach(members[0], device::kTestGroup), 0);
  EXPECT_EQ(attach(members[56], device::kTestGroup), 0);
  for (size_t i = 1; i < 57; ++i) EXPECT_EQ(detach(members[i], device::kTestGroup), 0) << i;
}

// MF-04: 239.129.2.3 has the MAC address of 239.1.2.3.
TEST_F(McastTest, AGroupWithTheSameMacIsAnotherGroup) {
  ib_qp* sender = make(IB_QPT_UD);
  bring_to(sender, IB_QPS_RTS);
  ib_qp* member = listener(4);
  const Gid twin = Gid::from_ipv4(0xEF810203);
  ASSERT_EQ(attach(member, device::kTestGroup), 0);
  EXPECT_EQ(received(sender, handle_to(twin), member), 0u);
  EXPECT_EQ(received(sender, handle_to(device::kTestGroup), member), 1u);
  ASSERT_EQ(attach(member, twin), 0);
  EXPECT_EQ(received(sender, handle_to(twin), member), 1u);
  EXPECT_EQ(detach(member, twin), 0);
  EXPECT_EQ(detach(member, device::kTestGroup), 0);
}

TEST_F(McastTest, AMemberBySourceHearsThatSourceOnly) {
  ib_qp* sender = make(IB_QPT_UD);
  bring_to(sender, IB_QPS_RTS);
  ib_qp* member = listener(8);
  ib_ah* ah = handle_to(device::kTestGroup);
  ib_gid group = gid_of(device::kTestGroup);
  const ib_gid ours = gid_of(device::kTestIpv4);
  const ib_gid other = gid_of(Gid::from_ipv4(0x0A0000EE));
  ASSERT_EQ(uroce_attach_mcast_source(member, &group, &other), 0);
  EXPECT_EQ(received(sender, ah, member), 0u);
  ASSERT_EQ(uroce_attach_mcast_source(member, &group, &ours), 0);
  EXPECT_EQ(received(sender, ah, member), 1u);
  EXPECT_EQ(attach(member, device::kTestGroup), -EADDRINUSE);
  ASSERT_EQ(uroce_detach_mcast_source(member, &group, &ours), 0);
  EXPECT_EQ(received(sender, ah, member), 0u);
  EXPECT_EQ(uroce_detach_mcast_source(member, &group, &ours), -EADDRNOTAVAIL);
  EXPECT_EQ(uroce_detach_mcast_source(member, &group, &other), 0);
  EXPECT_EQ(detach(member, device::kTestGroup), -EINVAL);
}

}  // namespace
}  // namespace uroce::verbs
