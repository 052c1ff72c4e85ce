// SPDX-License-Identifier: BSD-3-Clause
// The exchange: lets traders in, publishes to the end of the stream, judges what they report.
#ifndef UROCE_APP_FEED_EXCHANGE_H
#define UROCE_APP_FEED_EXCHANGE_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "channel.h"
#include "group.h"
#include "options.h"
#include "party.h"
#include "publisher.h"
#include "session.h"

namespace uroce::market {

class Exchange : public Party {
 public:
  // `devices`: of feed A and of feed B. Control group and orders are on the first.
  Exchange(ib_device* const (&devices)[2], const Options& options);

  void step() override;
  bool is_done() const override;
  bool report() const override;

 private:
  enum class State { kWaiting, kPublishing, kEnding };

  void take_logins();
  void handle_login(const Login& login);
  Session* session_of(const Login& login);
  void enter(State state, uint64_t now_ns);
  void wait_for_traders(uint64_t now_ns);
  void end(uint64_t now_ns);

  ib_device* const device_;
  const Options& options_;
  Publisher publisher_;
  Channel control_;
  GroupTarget control_target_;
  Membership control_membership_;
  std::vector<std::unique_ptr<Session>> sessions_;
  State state_ = State::kWaiting;
  uint64_t state_since_ns_;
  uint64_t logins_ = 0;
  uint64_t refused_ = 0;  // logins for which there is no room or no way back
  uint64_t foreign_ = 0;  // datagrams
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_EXCHANGE_H
