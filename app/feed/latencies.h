// SPDX-License-Identifier: BSD-3-Clause
// Times that were measured, and their percentiles.
#ifndef UROCE_APP_FEED_LATENCIES_H
#define UROCE_APP_FEED_LATENCIES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uroce::market {

// Memory is taken by reserve() alone; of more samples than that only the number is kept.
class Latencies {
 public:
  void reserve(size_t samples) { samples_.reserve(samples); }
  void add(uint64_t ns) {
    if (samples_.size() < samples_.capacity()) {
      samples_.push_back(ns);
    } else {
      ++beyond_;
    }
  }

  // The smallest sample that `per_mille` of 1000 do not exceed; 0 when there is none.
  uint64_t percentile(uint32_t per_mille) const;
  // "p50 … p99 … p99.9 … max … us, … samples".
  std::string summary() const;

 private:
  std::vector<uint64_t> samples_;
  uint64_t beyond_ = 0;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_LATENCIES_H
