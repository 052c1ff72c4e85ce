// SPDX-License-Identifier: BSD-3-Clause
// Tests of rates and speeds against the tables of the kernel's results.
#include <gtest/gtest.h>
#include <uroce/ib_rate.h>

#include <cerrno>
#include <string>

namespace {

struct Row {
  int rate;
  int multiple;
  int mbps;
};

constexpr Row kTable[] = {
    {2, 1, 2500},      {3, 4, 10000},     {4, 12, 30000},     {5, 2, 5000},     {6, 8, 20000},
    {7, 16, 40000},    {8, 24, 60000},    {9, 32, 80000},     {10, 48, 120000}, {11, 6, 14062},
    {12, 22, 56250},   {13, 45, 112500},  {14, 67, 168750},   {15, 10, 25781},  {16, 40, 103125},
    {17, 80, 206250},  {18, 120, 309375}, {19, 11, 28125},    {20, 20, 53125},  {21, 160, 425000},
    {22, 240, 637500}, {23, 320, 850000}, {25, 640, 1700000},
};

// RT-01, RT-03, RT-05.
TEST(Rate, EachHasItsMultipleAndItsMegabits) {
  for (const Row& row : kTable) {
    const auto rate = static_cast<ib_rate>(row.rate);
    EXPECT_EQ(ib_rate_to_mult(rate), row.multiple) << row.rate;
    EXPECT_EQ(ib_rate_to_mbps(rate), row.mbps) << row.rate;
    EXPECT_EQ(mult_to_ib_rate(row.multiple), rate) << row.multiple;
  }
}

// RT-02, RT-04.
TEST(Rate, WhatIsNoRateIsMinusOne) {
  for (const int value : {0, 1, 24, 26, -1, 1000}) {
    EXPECT_EQ(ib_rate_to_mult(static_cast<ib_rate>(value)), -1) << value;
    EXPECT_EQ(ib_rate_to_mbps(static_cast<ib_rate>(value)), -1) << value;
  }
}

// RT-06.
TEST(Rate, MultiplesAreNotRounded) {
  for (const int multiple : {0, 3, 5, 7, -1, 641}) {
    EXPECT_EQ(mult_to_ib_rate(multiple), IB_RATE_PORT_CURRENT) << multiple;
  }
}

struct Speed {
  int speed;
  int width;
  std::string words;
  int rate;
};

// SP-01, SP-02, SP-03, SP-04, SP-05, SP-06, SP-08, and the speeds beside them.
TEST(PortSpeed, IsLanesByTheirSpeed) {
  const Speed table[] = {
      {IB_SPEED_EDR, IB_WIDTH_4X, " EDR", 1000},   {IB_SPEED_FDR10, IB_WIDTH_4X, " FDR10", 400},
      {IB_SPEED_SDR, IB_WIDTH_1X, " SDR", 25},     {0, IB_WIDTH_4X, " SDR", 100},
      {IB_SPEED_NDR, IB_WIDTH_8X, " NDR", 8000},   {IB_SPEED_HDR, IB_WIDTH_2X, " HDR", 1000},
      {IB_SPEED_XDR, IB_WIDTH_12X, " XDR", 24000}, {IB_SPEED_DDR, IB_WIDTH_1X, " DDR", 50},
      {IB_SPEED_QDR, IB_WIDTH_4X, " QDR", 400},    {IB_SPEED_FDR, IB_WIDTH_4X, " FDR", 560},
  };
  for (const Speed& row : table) {
    ib_port_attr attr{};
    attr.active_speed = static_cast<__u16>(row.speed);
    attr.active_width = static_cast<__u8>(row.width);
    ib_port_speed_info info{};
    ASSERT_EQ(ib_port_attr_to_speed_info(&attr, &info), 0) << row.words;
    EXPECT_EQ(info.str, row.words);
    EXPECT_EQ(info.rate, row.rate) << row.words;
  }
}

// SP-07.
TEST(PortSpeed, AWidthThatIsNoneIsRefused) {
  for (const int width : {0, 3}) {
    ib_port_attr attr{};
    attr.active_speed = IB_SPEED_EDR;
    attr.active_width = static_cast<__u8>(width);
    ib_port_speed_info info{};
    EXPECT_EQ(ib_port_attr_to_speed_info(&attr, &info), -EINVAL) << width;
  }
}

}  // namespace
