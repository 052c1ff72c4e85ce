// SPDX-License-Identifier: BSD-3-Clause
// Rates of paths as multiples of 2.5 Gb/s and in Mb/s. The numbers are the kernel's as far as both
// have them, but libibverbs knows no multiple of those whose line rate is none.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace {

constexpr int kNone = -1;

struct Rate {
  int rate;
  int multiple;  // or kNone
  int mbps;
};

constexpr Rate kTable[] = {
    {IBV_RATE_2_5_GBPS, 1, 2'500},        {IBV_RATE_5_GBPS, 2, 5'000},
    {IBV_RATE_10_GBPS, 4, 10'000},        {IBV_RATE_14_GBPS, kNone, 14'062},
    {IBV_RATE_20_GBPS, 8, 20'000},        {IBV_RATE_25_GBPS, kNone, 25'781},
    {IBV_RATE_28_GBPS, 11, 28'125},       {IBV_RATE_30_GBPS, 12, 30'000},
    {IBV_RATE_40_GBPS, 16, 40'000},       {IBV_RATE_50_GBPS, 20, 53'125},
    {IBV_RATE_56_GBPS, kNone, 56'250},    {IBV_RATE_60_GBPS, 24, 60'000},
    {IBV_RATE_80_GBPS, 32, 80'000},       {IBV_RATE_100_GBPS, kNone, 103'125},
    {IBV_RATE_112_GBPS, kNone, 112'500},  {IBV_RATE_120_GBPS, 48, 120'000},
    {IBV_RATE_168_GBPS, kNone, 168'750},  {IBV_RATE_200_GBPS, kNone, 206'250},
    {IBV_RATE_300_GBPS, kNone, 309'375},  {IBV_RATE_400_GBPS, 160, 425'000},
    {IBV_RATE_600_GBPS, 240, 637'500},    {IBV_RATE_800_GBPS, 320, 850'000},
    {IBV_RATE_1200_GBPS, 480, 1'275'000},
};

const Rate* find(int Rate::*field, int value) {
  const auto* found = std::ranges::find(kTable, value, field);
  return found != std::end(kTable) ? found : nullptr;
}

// What an application gives need not be a value of its type.
int number_of(const ibv_rate& rate) {
  int number;
  static_assert(sizeof number == sizeof rate);
  std::memcpy(&number, &rate, sizeof number);
  return number;
}

}  // namespace

int ibv_rate_to_mult(ibv_rate rate) {
  const Rate* found = find(&Rate::rate, number_of(rate));
  return found != nullptr ? found->multiple : kNone;
}

int ibv_rate_to_mbps(ibv_rate rate) {
  const Rate* found = find(&Rate::rate, number_of(rate));
  return found != nullptr ? found->mbps : kNone;
}

ibv_rate mult_to_ibv_rate(int mult) {
  if (mult == kNone) return IBV_RATE_MAX;
  const Rate* found = find(&Rate::multiple, mult);
  return found != nullptr ? static_cast<ibv_rate>(found->rate) : IBV_RATE_MAX;
}

ibv_rate mbps_to_ibv_rate(int mbps) {
  const Rate* found = find(&Rate::mbps, mbps);
  return found != nullptr ? static_cast<ibv_rate>(found->rate) : IBV_RATE_MAX;
}
