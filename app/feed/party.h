// SPDX-License-Identifier: BSD-3-Clause
// One side of the market: a state machine that whoever polls the devices steps.
#ifndef UROCE_APP_FEED_PARTY_H
#define UROCE_APP_FEED_PARTY_H

namespace uroce::market {

class Party {
 public:
  virtual ~Party() = default;

  // Does what there is to do now and never waits. Throws when it cannot go on.
  virtual void step() = 0;
  virtual bool is_done() const = 0;
  // Prints what it saw, and each check that did not hold on stderr. True: all held.
  virtual bool report() const = 0;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_PARTY_H
