// SPDX-License-Identifier: BSD-3-Clause
// Tests of the UDP source port functions against the tables of the kernel's results.
#include <gtest/gtest.h>
#include <uroce/ib_ah.h>

namespace {

// K1-01 … K1-12.
TEST(FlowLabel, K1LabelToPort) {
  struct Row {
    __u32 label;
    __u16 port;
  };
  constexpr Row kRows[] = {{0x0, 0xC000},     {0x1, 0xC001},      {0x3fff, 0xFFFF},
                           {0x4000, 0xC001},  {0x7fff, 0xFFFE},   {0x8000, 0xC002},
                           {0xfc000, 0xC03F}, {0xfffff, 0xFFC0},  {0x12345, 0xE341},
                           {0xabcde, 0xFCF4}, {0x100000, 0xC000}, {0x123456, 0xF45E}};
  for (const Row& row : kRows) {
    EXPECT_EQ(rdma_flow_label_to_udp_sport(row.label), row.port) << std::hex << row.label;
  }
}

// K2-01 … K2-11.
TEST(FlowLabel, K2QpnsToLabelInBothDirections) {
  struct Row {
    __u32 local;
    __u32 remote;
    __u32 label;
    __u16 port;
  };
  constexpr Row kRows[] = {{0x0, 0x123456, 0x00000, 0xC000},
                           {0x1, 0x1, 0x00001, 0xC001},
                           {0x1, 0xffffff, 0xffff0, 0xFFCF},
                           {0x11, 0x12, 0x00132, 0xC132},
                           {0x11, 0x11, 0x00121, 0xC121},
                           {0xffffff, 0xffffff, 0xfff1e, 0xFF21},
                           {0x123456, 0x654321, 0xa77ae, 0xF787},
                           {0x1000, 0x1000, 0x00010, 0xC010},
                           {0x400, 0x400, 0x00001, 0xC001},
                           {0xabcdef, 0x1, 0xbcde5, 0xCDCA},
                           {0x2, 0x3, 0x00006, 0xC006}};
  for (const Row& row : kRows) {
    EXPECT_EQ(rdma_calc_flow_label(row.local, row.remote), row.label) << std::hex << row.local;
    EXPECT_EQ(rdma_calc_flow_label(row.remote, row.local), row.label) << std::hex << row.local;
    EXPECT_EQ(rdma_get_udp_sport(0, row.local, row.remote), row.port) << std::hex << row.local;
  }
}

// K3-01 … K3-06.
TEST(FlowLabel, K3ALabelDecidesUnlessItIsZero) {
  EXPECT_EQ(rdma_get_udp_sport(0x12345, 0x5, 0x6), 0xE341);
  EXPECT_EQ(rdma_get_udp_sport(0x12345, 0x11, 0x12), 0xE341);
  EXPECT_EQ(rdma_get_udp_sport(0x0, 0x11, 0x12), 0xC132);
  EXPECT_EQ(rdma_get_udp_sport(0x0, 0x12, 0x11), 0xC132);
  EXPECT_EQ(rdma_get_udp_sport(0x0, 0x0, 0x99), 0xC000);
  EXPECT_EQ(rdma_get_udp_sport(0x100000, 0x11, 0x12), 0xC000);
}

}  // namespace
