// SPDX-License-Identifier: BSD-3-Clause
// The width and speed of a link from its rate: a table.
#include "device/link_rate.h"

#include <algorithm>
#include <iterator>

namespace uroce::device {
namespace {

enum Width : uint8_t { k1x = 1, k4x = 2, k8x = 4, k2x = 16 };
enum Speed : uint16_t {
  kSdr = 1,
  kDdr = 2,
  kFdr10 = 8,
  kEdr = 32,
  kHdr = 64,
  kNdr = 128,
};

struct Row {
  uint32_t mbps;
  LinkRate rate;
};
constexpr Row kRows[] = {
    {1000, {k1x, kSdr}},    {10000, {k1x, kFdr10}}, {20000, {k4x, kDdr}},  {25000, {k1x, kEdr}},
    {40000, {k4x, kFdr10}}, {50000, {k2x, kEdr}},   {100000, {k4x, kEdr}}, {200000, {k4x, kHdr}},
    {400000, {k4x, kNdr}},  {800000, {k8x, kNdr}},
};

}  // namespace

LinkRate link_rate(uint32_t mbps) {
  return std::find_if(std::begin(kRows), std::end(kRows) - 1,
                      [mbps](const Row& row) { return mbps <= row.mbps; })
      ->rate;
}

}  // namespace uroce::device
