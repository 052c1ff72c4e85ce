// SPDX-License-Identifier: BSD-3-Clause
// Percentiles by the nearest rank: each is a time that was measured.
#include "latencies.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace uroce::market {

uint64_t Latencies::percentile(uint32_t per_mille) const {
  if (samples_.empty()) return 0;
  const size_t rank = (samples_.size() * per_mille + 999) / 1000;
  std::vector<uint64_t> sorted = samples_;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

std::string Latencies::summary() const {
  if (samples_.empty()) return "no samples";
  const auto us = [this](uint32_t per_mille) {
    return static_cast<double>(percentile(per_mille)) / 1e3;
  };
  char text[160];
  std::snprintf(text, sizeof text,
                "p50 %.2f  p99 %.2f  p99.9 %.2f  max %.2f us, %" PRIu64 " samples", us(500),
                us(990), us(999), us(1000), samples_.size() + beyond_);
  return text;
}

}  // namespace uroce::market
