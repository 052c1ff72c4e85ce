// SPDX-License-Identifier: BSD-3-Clause
// The trader: logs in, follows the feed, orders at each trigger, reports what it counted.
#ifndef UROCE_APP_FEED_TRADER_H
#define UROCE_APP_FEED_TRADER_H

#include <uroce/ib_verbs.h>
#include <uroce/multicast.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arbiter.h"
#include "channel.h"
#include "checks.h"
#include "group.h"
#include "latencies.h"
#include "options.h"
#include "party.h"
#include "recovery.h"

namespace uroce::market {

class Trader : public Party {
 public:
  // `devices`: of feed A and of feed B. Control group and orders are on the first.
  Trader(ib_device* const (&devices)[2], const Options& options);

  void step() override;
  bool is_done() const override { return state_ == State::kDone; }
  bool report() const override;

 private:
  enum class State { kLogin, kReady, kTrading, kReported, kDone };
  // The control group, for as long as the login takes.
  struct Control {
    Control(ib_device* device, const Group& group);
    Channel channel;
    GroupTarget target;
    Membership membership;
  };

  void log_in(uint64_t now_ns);
  void handle_welcome(const Welcome& welcome);
  void take_answers();
  void handle_answer(std::span<const uint8_t> data, uint64_t now_ns);
  void handle_start(const Start& start);
  void handle_fill(const Fill& fill, uint64_t now_ns);
  void follow_feed(uint64_t now_ns);
  void follow_side(int side, uint64_t now_ns);
  void see_end(int side, uint64_t now_ns);
  void take_packet(int side, const uroce_feed_arrival& arrival, uint64_t now_ns);
  void mend(uint64_t now_ns);
  void take_recovered(const Recovery::Piece& piece, uint64_t now_ns);
  void react(const Message& message, uint64_t tick_ns);
  void report_totals(uint64_t now_ns);
  void watch_silence(uint64_t now_ns) const;

  ib_device* const device_;
  const Options& options_;
  Channel link_;
  Arbiter arbiter_;
  Recovery recovery_;
  const app::GidEntry own_;  // the connection's
  std::optional<Control> control_;
  Login login_{};
  State state_ = State::kLogin;
  uint64_t asked_ns_ = 0;              // when the last login was sent
  uint64_t heard_ns_;                  // when anything came from the exchange
  uint64_t end_ns_ = 0;                // when the end of the stream was first seen; 0: not yet
  bool ended_[UROCE_FEED_SIDES] = {};  // whether it was, on each side
  uint64_t foreign_ = 0;               // datagrams and messages
  uint64_t overwritten_ = 0;           // in the history before they could be read
  bool verdict_good_ = false;
  Ledger ledger_;
  std::vector<uint64_t> ordered_ns_;  // by trigger
  Latencies tick_to_order_;
  Latencies order_to_fill_;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_TRADER_H
