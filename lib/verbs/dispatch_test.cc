// SPDX-License-Identifier: BSD-3-Clause
// Tests of the table of functions behind a device: what is missing, and what is handed on.
#include <gtest/gtest.h>
#include <uroce/ib_verbs.h>

#include <array>
#include <cerrno>

namespace {

// A device of the application's own making, with an empty table at first.
class StubDevice : public testing::Test {
 protected:
  StubDevice() {
    device_.ops = &ops_;
    device_.phys_port_cnt = 1;
    pd_.device = qp_.device = srq_.device = cq_.device = ah_.device = &device_;
    qp_.qp_type = IB_QPT_UD;
    qp_.real_qp = &qp_;
  }

  ib_device_ops ops_{};
  ib_device device_{};
  ib_pd pd_{};
  ib_qp qp_{};
  ib_srq srq_{};
  ib_cq cq_{};
  ib_ah ah_{};
};

// MC-01, MC-28: there is no function before there is a wrong argument.
TEST_F(StubDevice, WithoutMulticastSaysSoWhateverIsAsked) {
  ib_gid unicast{.raw = {0xfe, 0x80}};
  ib_gid group{.raw = {0xff, 0x0e}};
  for (ib_gid* gid : {&unicast, &group}) {
    EXPECT_EQ(ib_attach_mcast(&qp_, gid, 0), -EOPNOTSUPP);
    EXPECT_EQ(ib_detach_mcast(&qp_, gid, 0), -EOPNOTSUPP);
    EXPECT_EQ(uroce_attach_mcast_source(&qp_, gid, &unicast), -EOPNOTSUPP);
    EXPECT_EQ(uroce_detach_mcast_source(&qp_, gid, &unicast), -EOPNOTSUPP);
  }
}

// OP-01.
TEST_F(StubDevice, WithAnEmptyTableCanDoNothing) {
  ib_srq_attr srq_attr{};
  EXPECT_EQ(ib_modify_srq(&srq_, &srq_attr, IB_SRQ_LIMIT), -EOPNOTSUPP);
  EXPECT_EQ(ib_query_srq(&srq_, &srq_attr), -EOPNOTSUPP);
  ib_srq_init_attr srq_init{};
  EXPECT_EQ(PTR_ERR(ib_create_srq(&pd_, &srq_init)), -EOPNOTSUPP);
  ib_qp_attr qp_attr{};
  ib_qp_init_attr qp_init{};
  EXPECT_EQ(ib_query_qp(&qp_, &qp_attr, 0, &qp_init), -EOPNOTSUPP);
  EXPECT_EQ(ib_modify_qp(&qp_, &qp_attr, IB_QP_STATE), -EOPNOTSUPP);
  EXPECT_EQ(ib_modify_qp_with_udata(&qp_, &qp_attr, IB_QP_STATE, nullptr), -EOPNOTSUPP);
  EXPECT_EQ(PTR_ERR(ib_create_qp(&pd_, &qp_init)), -EOPNOTSUPP);
  EXPECT_EQ(PTR_ERR(ib_create_qp(nullptr, &qp_init)), -EINVAL);
  rdma_ah_attr ah_attr{};
  EXPECT_EQ(rdma_modify_ah(&ah_, &ah_attr), -EOPNOTSUPP);
  EXPECT_EQ(rdma_query_ah(&ah_, &ah_attr), -EOPNOTSUPP);
  EXPECT_EQ(PTR_ERR(rdma_create_ah(&pd_, &ah_attr, 0)), -EOPNOTSUPP);
  EXPECT_EQ(PTR_ERR(rdma_create_user_ah(&pd_, &ah_attr, nullptr)), -EOPNOTSUPP);
  EXPECT_EQ(PTR_ERR(ib_alloc_mr(&pd_, IB_MR_TYPE_MEM_REG, 1)), -EOPNOTSUPP);
  EXPECT_EQ(PTR_ERR(ib_alloc_mr_integrity(&pd_, 1, 1)), -EOPNOTSUPP);
}

// MR-04.
TEST_F(StubDevice, WithoutSignaturesLeavesTheStatusAsItWas) {
  ib_mr mr{};
  mr.device = &device_;
  ib_mr_status status{};
  status.fail_status = 77;
  EXPECT_EQ(ib_check_mr_status(&mr, IB_MR_CHECK_SIG_STATUS, &status), -EOPNOTSUPP);
  EXPECT_EQ(status.fail_status, 77u);
}

// CQ-05.
TEST_F(StubDevice, WithoutModerationSaysSo) {
  EXPECT_EQ(rdma_set_cq_moderation(&cq_, 4, 1000), -EOPNOTSUPP);
}

// ND-01, on a device that makes none; ours are such.
TEST_F(StubDevice, MakesNoNetworkDevice) {
  for (const auto type : {RDMA_NETDEV_IPOIB, RDMA_NETDEV_OPA_VNIC}) {
    EXPECT_EQ(PTR_ERR(rdma_alloc_netdev(&device_, 1, type, "ib%d", 0, nullptr)), -EOPNOTSUPP);
  }
}

// UD-01, UD-02.
TEST_F(StubDevice, TakesNoPrivateData) {
  ops_.create_user_ah = [](ib_pd*, rdma_ah_attr*, ib_udata*) -> ib_ah* { return nullptr; };
  ops_.modify_qp = [](ib_qp*, ib_qp_attr*, int, ib_udata*) { return 0; };
  rdma_ah_attr ah_attr{};
  ib_qp_attr qp_attr{};
  std::array<char, 4> bytes{};
  ib_udata none{};
  for (ib_udata* udata : {static_cast<ib_udata*>(nullptr), &none}) {
    EXPECT_EQ(rdma_create_user_ah(&pd_, &ah_attr, udata), nullptr);
    EXPECT_EQ(ib_modify_qp_with_udata(&qp_, &qp_attr, 0, udata), 0);
  }
  ib_udata in{.inbuf = bytes.data(), .outbuf = nullptr, .inlen = bytes.size(), .outlen = 0};
  ib_udata out{.inbuf = nullptr, .outbuf = bytes.data(), .inlen = 0, .outlen = bytes.size()};
  for (ib_udata* udata : {&in, &out}) {
    EXPECT_EQ(PTR_ERR(rdma_create_user_ah(&pd_, &ah_attr, udata)), -EINVAL);
    EXPECT_EQ(ib_modify_qp_with_udata(&qp_, &qp_attr, 0, udata), -EINVAL);
  }
}

// What a device has is called with what was given.
TEST_F(StubDevice, IsCalledForWhatItHas) {
  ops_.attach_mcast = [](ib_qp*, ib_gid*, __u16 lid) { return -static_cast<int>(lid); };
  ib_gid group{.raw = {0xff, 0x0e}};
  EXPECT_EQ(ib_attach_mcast(&qp_, &group, 7), -7);
  qp_.qp_type = IB_QPT_RC;
  EXPECT_EQ(ib_attach_mcast(&qp_, &group, 7), -EINVAL) << "checked for every device";
}

}  // namespace
