// SPDX-License-Identifier: BSD-3-Clause
// The trader's side of groups A and B: a queue pair for each, and the feed that makes them one.
#ifndef UROCE_APP_FEED_ARBITER_H
#define UROCE_APP_FEED_ARBITER_H

#include <uroce/ib_verbs.h>
#include <uroce/multicast.h>

#include <cstdint>
#include <memory>
#include <span>

#include "channel.h"
#include "group.h"
#include "options.h"
#include "protocol.h"

namespace uroce::market {

class Arbiter {
 public:
  // `devices`: of A and of B. Joins both groups; what comes waits until start().
  Arbiter(ib_device* const (&devices)[2], const Options& options);

  // Messages count from the first number to the last.
  void start(uint64_t first, uint64_t last);
  // Nothing is looked at any more: the statistics are complete.
  void end();

  // Takes what has come on a side; false: nothing waits there.
  bool collect(int side);
  // What waits at the front of that side. NEW: `arrival` says what of it is; is_fresh() which.
  uroce_feed_verdict look(int side, uint64_t now_ns, uroce_feed_arrival& arrival);
  std::span<const uint8_t> front(int side) { return sides_[side]->channel.front(); }
  void pop(int side) { sides_[side]->channel.pop(); }
  bool is_fresh(uint64_t sequence) const { return uroce_feed_is_fresh(feed_.get(), sequence) != 0; }

  // The next range that neither side brought in time.
  bool take_lost(uint64_t now_ns, uroce_feed_range& range) {
    return uroce_feed_lost(feed_.get(), now_ns, &range) != 0;
  }

  uroce_feed_statistics statistics() const;
  void print() const;

 private:
  struct Side {
    Side(ib_device* device, const Group& group, uint32_t qkey);
    Channel channel;
    Membership membership;
    const std::string& name;
  };
  struct Destroy {
    void operator()(uroce_feed* feed) const { uroce_feed_destroy(feed); }
  };

  std::unique_ptr<Side> sides_[2];
  uint64_t last_ = 0;
  std::unique_ptr<uroce_feed, Destroy> feed_;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_ARBITER_H
