// SPDX-License-Identifier: BSD-3-Clause
// How many messages may go out now, at a rate.
#ifndef UROCE_APP_FEED_PACE_H
#define UROCE_APP_FEED_PACE_H

#include <algorithm>
#include <cstdint>

#include "clock.h"

namespace uroce::market {

// What was not used is saved, but only for a millisecond or a packet: after a stall the stream goes
// on at its rate instead of bursting into its readers.
class Pace {
 public:
  Pace(double per_second, uint32_t batch)
      : cost_ns_(static_cast<double>(kSecondNs) / per_second),
        saved_ns_max_(std::max(1e6, cost_ns_ * batch)),
        batch_(batch) {}

  // Takes up to a batch of messages; the first call only starts the clock.
  uint32_t take(uint64_t now_ns) {
    if (last_ns_ != 0) saved_ns_ += static_cast<double>(now_ns - last_ns_);
    last_ns_ = now_ns;
    saved_ns_ = std::min(saved_ns_, saved_ns_max_);
    const auto count = std::min(batch_, static_cast<uint32_t>(saved_ns_ / cost_ns_));
    saved_ns_ -= count * cost_ns_;
    return count;
  }

 private:
  const double cost_ns_;
  const double saved_ns_max_;
  const uint32_t batch_;
  double saved_ns_ = 0;
  uint64_t last_ns_ = 0;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_PACE_H
