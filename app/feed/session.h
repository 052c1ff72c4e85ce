// SPDX-License-Identifier: BSD-3-Clause
// The exchange's side of one trader: its connection, its orders, its totals.
#ifndef UROCE_APP_FEED_SESSION_H
#define UROCE_APP_FEED_SESSION_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "channel.h"
#include "checks.h"
#include "latencies.h"
#include "protocol.h"
#include "publisher.h"

namespace uroce::market {

class Session {
 public:
  // Connects to the trader; throws when its address does not answer.
  Session(ib_device* device, const Login& login, const Publisher& publisher);

  uint64_t nonce() const { return login_.nonce; }
  const Welcome& welcome() const { return welcome_; }

  // Takes what has come and answers it. A connection that fails ends the session.
  void step();
  bool is_ready() const { return state_ == State::kTrading || state_ == State::kJudged; }
  // Its totals were judged and it has got the verdict, or it has failed.
  bool is_done() const;
  void fail(const std::string& sentence);

  // Prints its part; what did not hold is added to `failures`.
  void report(Failures& failures) const;

 private:
  enum class State { kWelcomed, kTrading, kJudged, kFailed };
  // Gives the history back before the channel's protection domain goes.
  struct Deregister {
    void operator()(ib_mr* region) const { ib_dereg_mr(region); }
  };

  void handle(std::span<const uint8_t> data, uint64_t now_ns);
  void handle_ready();
  void handle_order(const Order& order, uint64_t now_ns);
  bool is_right(const Order& order) const;
  void judge(const Totals& totals);

  const Publisher& publisher_;
  const Login login_;
  const std::string name_;
  Channel link_;
  std::unique_ptr<ib_mr, Deregister> history_;
  Welcome welcome_{};
  State state_ = State::kWelcomed;
  std::string failure_;
  Failures failures_;
  uint64_t first_ = 0;  // message that is its own
  OnceSet ordered_;
  uint64_t orders_ = 0;
  uint64_t fills_ = 0;
  uint64_t refused_ = 0;
  uint64_t foreign_ = 0;
  uint64_t verdict_number_ = 0;
  Latencies tick_to_order_;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_SESSION_H
