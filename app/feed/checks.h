// SPDX-License-Identifier: BSD-3-Clause
// What both sides hold the run against. Each failed check is a sentence; none means that all held.
#ifndef UROCE_APP_FEED_CHECKS_H
#define UROCE_APP_FEED_CHECKS_H

#include <uroce/multicast.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol.h"

namespace uroce::market {

using Failures = std::vector<std::string>;

// Numbers of a range, each to be ticked off once.
class OnceSet {
 public:
  // first … first + count - 1.
  void init(uint64_t first, uint64_t count);
  // False: outside the range, or it was there already.
  bool insert(uint64_t number) {
    if (number - first_ >= there_.size() || there_[number - first_]) return false;
    there_[number - first_] = true;
    return true;
  }
  bool has(uint64_t number) const {
    return number - first_ < there_.size() && there_[number - first_];
  }

 private:
  uint64_t first_ = 0;
  std::vector<bool> there_;
};

// A trader's account of messages, orders and fills.
class Ledger {
 public:
  // Takes all its memory.
  void start(const Start& start);

  // One message each, by whichever way it came.
  void delivered(const Message& message, uint64_t sequence);
  void recovered(const Message& message);
  void lost(uint64_t first, uint64_t count);
  // An order goes out, a fill has come. False: it must not; that is counted.
  bool ordered(uint32_t trigger);
  bool filled(uint32_t trigger);

  // Every message from the first to the last has come or is known to be lost.
  bool complete() const { return totals_.delivered + totals_.recovered + totals_.lost >= wanted_; }
  bool all_filled() const { return totals_.fills >= totals_.orders; }
  uint64_t wanted() const { return wanted_; }
  const Totals& totals() const { return totals_; }

  // `recovery`: nothing may be lost.
  Failures failures(bool recovery) const;

 private:
  bool once(uint64_t sequence);

  uint64_t wanted_ = 0;
  OnceSet messages_;
  OnceSet orders_;
  OnceSet fills_;
  Totals totals_{header_of(Kind::kTotals), 0, 0, 0, 0, 0};
  uint64_t triggers_ = 0;  // in messages that came
  uint64_t repeated_ = 0;  // messages that came twice, or are none of ours
  uint64_t broken_ = 0;    // that are not as they were sent
  uint64_t refused_ = 0;   // orders for a trigger that had one, fills without an order
};

// What the arbiter says of `wanted` messages: each side brought each of them, or has a gap there.
Failures check_sides(const uroce_feed_statistics& statistics, uint64_t wanted);

// What an exchange knows of one trader.
struct TraderFacts {
  uint64_t messages;  // published since its START
  uint64_t triggers;  // in them
  uint64_t orders;    // good ones that came
  uint64_t fills;     // sent
  uint64_t refused;   // orders without a trigger, or a second one for it
};
Failures audit(const Totals& totals, const TraderFacts& facts);

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_CHECKS_H
