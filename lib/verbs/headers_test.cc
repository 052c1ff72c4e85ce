// SPDX-License-Identifier: BSD-3-Clause
// The public headers in one C++20 file with those that they must live beside, and their numbers
// against the tables of the kernel's.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <linux/types.h>
#include <uroce/ib_verbs.h>

#include "verbs/kernel_names_fixture.h"

extern "C" int headers_in_c(void);
extern "C" int kernel_names_in_c(void);
extern "C" int headers_without_kernel_names(void);

namespace {

TEST(Headers, LiveBesideLibibverbsInCAndCxx) {
  EXPECT_TRUE(headers_in_c());
  EXPECT_TRUE(headers_without_kernel_names());
  const ibv_qp_type theirs = IBV_QPT_UD;
  EXPECT_EQ(static_cast<int>(theirs), static_cast<int>(IB_QPT_UD));
}

TEST(Headers, EveryNameOfTheKernelLinksInCAndCxx) {
  EXPECT_EQ(uroce_kernel_names(), 97);
  EXPECT_EQ(kernel_names_in_c(), 97);
}

// MR-01.
TEST(Headers, G1AndH1Numbers) {
  EXPECT_EQ(IB_QPS_ERR, 6);
  EXPECT_EQ(IB_QPT_XRC_TGT, 10);
  EXPECT_EQ(IB_QP_DEST_QPN, 0x100000);
  EXPECT_EQ(IB_QP_RATE_LIMIT, 0x2000000);
  EXPECT_EQ(IB_WC_RNR_RETRY_EXC_ERR, 13);
  EXPECT_EQ(IB_WC_GENERAL_ERR, 21);
  EXPECT_EQ(IB_WC_RECV_RDMA_WITH_IMM, 129);
  EXPECT_EQ(IB_WC_WITH_NETWORK_HDR_TYPE, 64);
  EXPECT_EQ(IB_WR_RDMA_READ_WITH_INV, 11);
  EXPECT_EQ(IB_WR_REG_MR, 32);
  EXPECT_EQ(IB_ACCESS_FLUSH_PERSISTENT, 512);
  EXPECT_EQ(IB_EVENT_WQ_FATAL, 19);
  EXPECT_EQ(IB_EVENT_GID_CHANGE, 18);
  EXPECT_EQ(IB_MR_TYPE_MEM_REG, 0);
  EXPECT_EQ(IB_MR_TYPE_SG_GAPS, 1);
  EXPECT_EQ(IB_MR_TYPE_DM, 2);
  EXPECT_EQ(IB_MR_TYPE_USER, 3);
  EXPECT_EQ(IB_MR_TYPE_DMA, 4);
  EXPECT_EQ(IB_MR_TYPE_INTEGRITY, 5);
  EXPECT_EQ(RDMA_AH_ATTR_TYPE_ROCE, 2);
}

// KY-02.
TEST(Headers, IncrementingAKeyKeepsItsIndex) {
  EXPECT_EQ(ib_inc_rkey(0x12345600), 0x12345601u);
  EXPECT_EQ(ib_inc_rkey(0x123456fe), 0x123456ffu);
  EXPECT_EQ(ib_inc_rkey(0x123456ff), 0x12345600u);
  EXPECT_EQ(ib_inc_rkey(0xffffffff), 0xffffff00u);
  EXPECT_EQ(ib_inc_rkey(0), 1u);
}

TEST(Headers, AGroupIsToldFromAHost) {
  const auto group = [](std::initializer_list<__u8> tail, __u8 first) {
    ib_gid gid{};
    gid.raw[0] = first;
    if (first == 0) gid.raw[10] = gid.raw[11] = 0xff;
    std::copy(tail.begin(), tail.end(), gid.raw + 12);
    return rdma_is_multicast_gid(&gid);
  };
  EXPECT_TRUE(group({224, 0, 0, 1}, 0));
  EXPECT_TRUE(group({239, 255, 255, 255}, 0));
  EXPECT_FALSE(group({223, 255, 255, 255}, 0));
  EXPECT_FALSE(group({240, 0, 0, 0}, 0));
  EXPECT_TRUE(group({0, 0, 0, 1}, 0xff));
  EXPECT_FALSE(group({0, 0, 0, 1}, 0xfe));
}

}  // namespace
