// SPDX-License-Identifier: BSD-3-Clause
// A/B arbitration: one sequence that arrives twice becomes one stream, and what is missing on one
// side or on both is counted. What its calls mean stands in uroce/multicast.h.
#ifndef UROCE_FEED_ARBITER_H
#define UROCE_FEED_ARBITER_H

#include <uroce/multicast.h>

#include <utility>

#include "feed/lost_ranges.h"
#include "feed/window.h"

namespace uroce::feed {

class Arbiter {
 public:
  // The attributes are valid ones, defaults filled in.
  Arbiter(const uroce_feed_attr& attr, Window window, LostRanges lost)
      : attr_(attr), window_(std::move(window)), lost_(std::move(lost)) {
    restart(attr.first_sequence);
  }

  uroce_feed_verdict arrive(uroce_feed_side side, const void* data, uint32_t length,
                            uint64_t now_ns, uroce_feed_arrival& arrival);
  // A packet that is of no side.
  uroce_feed_verdict refuse(uroce_feed_arrival& arrival);
  bool is_fresh(uint64_t sequence) const;
  bool take_lost(uint64_t now_ns, uroce_feed_range& range);
  void restart(uint64_t first_sequence);
  const uroce_feed_statistics& statistics() const { return statistics_; }

 private:
  bool read(const void* data, uint32_t length, uroce_feed_arrival& arrival) const;
  bool believes(uroce_feed_side side, const uroce_feed_arrival& arrival);
  void extend_to(const uroce_feed_arrival& arrival, uint64_t now_ns);
  void lose(uint64_t first, uint64_t count);
  void let_go();
  void let_all_go();
  void judge(uint64_t now_ns);
  void take_message(uroce_feed_side side, uint64_t sequence, uint64_t newest_before,
                    uint64_t now_ns, uroce_feed_arrival& arrival);

  uroce_feed_attr attr_;
  Window window_;
  LostRanges lost_;
  uroce_feed_statistics statistics_{};
  uint64_t arrivals_ = 0;
  uint64_t missing_ = 0;                     // in the window: neither brought nor given up
  uint64_t brought_[UROCE_FEED_SIDES] = {};  // in the window, by each side
  uint64_t judged_ = 0;                      // before it nothing is missing
  uint64_t beyond_[UROCE_FEED_SIDES] = {};   // end of the packet that was not believed last; or 0
  bool started_ = false;
};

}  // namespace uroce::feed

#endif  // UROCE_FEED_ARBITER_H
