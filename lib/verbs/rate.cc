// SPDX-License-Identifier: BSD-3-Clause
// Rates of paths and speeds of ports: between numbers of the verbs, multiples and words.
#include <uroce/ib_rate.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace {

struct Rate {
  ib_rate rate;
  int multiple;  // of 2.5 Gb/s
  int mbps;      // on the line
};

constexpr Rate kRates[] = {
    {IB_RATE_2_5_GBPS, 1, 2'500},        {IB_RATE_5_GBPS, 2, 5'000},
    {IB_RATE_10_GBPS, 4, 10'000},        {IB_RATE_20_GBPS, 8, 20'000},
    {IB_RATE_30_GBPS, 12, 30'000},       {IB_RATE_40_GBPS, 16, 40'000},
    {IB_RATE_60_GBPS, 24, 60'000},       {IB_RATE_80_GBPS, 32, 80'000},
    {IB_RATE_120_GBPS, 48, 120'000},     {IB_RATE_14_GBPS, 6, 14'062},
    {IB_RATE_56_GBPS, 22, 56'250},       {IB_RATE_112_GBPS, 45, 112'500},
    {IB_RATE_168_GBPS, 67, 168'750},     {IB_RATE_25_GBPS, 10, 25'781},
    {IB_RATE_100_GBPS, 40, 103'125},     {IB_RATE_200_GBPS, 80, 206'250},
    {IB_RATE_300_GBPS, 120, 309'375},    {IB_RATE_28_GBPS, 11, 28'125},
    {IB_RATE_50_GBPS, 20, 53'125},       {IB_RATE_400_GBPS, 160, 425'000},
    {IB_RATE_600_GBPS, 240, 637'500},    {IB_RATE_800_GBPS, 320, 850'000},
    {IB_RATE_1600_GBPS, 640, 1'700'000},
};

const Rate* find(ib_rate rate) {
  const auto* found = std::ranges::find(kRates, rate, &Rate::rate);
  return found != std::end(kRates) ? found : nullptr;
}

struct Speed {
  ib_port_speed speed;
  const char* words;
  int lane;  // units of 100 Mb/s
};

constexpr Speed kSpeeds[] = {
    {IB_SPEED_SDR, " SDR", 25},      {IB_SPEED_DDR, " DDR", 50},   {IB_SPEED_QDR, " QDR", 100},
    {IB_SPEED_FDR10, " FDR10", 100}, {IB_SPEED_FDR, " FDR", 140},  {IB_SPEED_EDR, " EDR", 250},
    {IB_SPEED_HDR, " HDR", 500},     {IB_SPEED_NDR, " NDR", 1000}, {IB_SPEED_XDR, " XDR", 2000},
};

int lanes_of(unsigned width) {
  switch (width) {
    case IB_WIDTH_1X:
      return 1;
    case IB_WIDTH_2X:
      return 2;
    case IB_WIDTH_4X:
      return 4;
    case IB_WIDTH_8X:
      return 8;
    case IB_WIDTH_12X:
      return 12;
    default:
      return -EINVAL;
  }
}

}  // namespace

int ib_rate_to_mult(ib_rate rate) {
  const Rate* found = find(rate);
  return found != nullptr ? found->multiple : -1;
}

int ib_rate_to_mbps(ib_rate rate) {
  const Rate* found = find(rate);
  return found != nullptr ? found->mbps : -1;
}

ib_rate mult_to_ib_rate(int mult) {
  const auto* found = std::ranges::find(kRates, mult, &Rate::multiple);
  return found != std::end(kRates) ? found->rate : IB_RATE_PORT_CURRENT;
}

int ib_port_attr_to_speed_info(ib_port_attr* attr, ib_port_speed_info* speed_info) {
  const int lanes = lanes_of(attr->active_width);
  if (lanes < 0) return lanes;
  const auto* found = std::ranges::find_if(
      kSpeeds, [attr](const Speed& row) { return unsigned{row.speed} == attr->active_speed; });
  const Speed& speed = found != std::end(kSpeeds) ? *found : kSpeeds[0];
  *speed_info = {.str = speed.words, .rate = speed.lane * lanes};
  return 0;
}
