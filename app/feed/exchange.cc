// SPDX-License-Identifier: BSD-3-Clause
// Waiting for traders, publishing, ending.
#include "exchange.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "clock.h"

namespace uroce::market {
namespace {

constexpr size_t kSessionsMax = 16;
constexpr ChannelShape kControlShape{.name = "the control group", .type = IB_QPT_UD};

}  // namespace

Exchange::Exchange(ib_device* const (&devices)[2], const Options& options)
    : device_(devices[0]),
      options_(options),
      publisher_(devices, options),
      control_(device_, kControlShape),
      control_target_(control_, options.control.gid, kControlQkey),
      control_membership_(control_, options.control),
      state_since_ns_(now_ns()) {
  control_.activate(kControlQkey);
  sessions_.reserve(kSessionsMax);
  std::printf("exchange: waits for %u trader%s at %s\n", options.traders,
              options.traders == 1 ? "" : "s", options.control.text.c_str());
  std::fflush(stdout);
}

void Exchange::step() {
  const uint64_t now = now_ns();
  take_logins();
  for (const auto& session : sessions_) session->step();
  switch (state_) {
    case State::kWaiting:
      wait_for_traders(now);
      break;
    case State::kPublishing:
      publisher_.step(now);
      if (publisher_.at_end()) enter(State::kEnding, now);
      break;
    case State::kEnding:
      publisher_.step_end(now);
      end(now);
      break;
  }
}

void Exchange::enter(State state, uint64_t now_ns) {
  state_ = state;
  state_since_ns_ = now_ns;
}

void Exchange::take_logins() {
  control_.collect();
  while (!control_.empty() && control_.has_room()) {
    Login login{};
    const std::span<const uint8_t> data = control_.front();
    if (read_as(Kind::kLogin, data, login)) {
      handle_login(login);
    } else if (kind_of(data) != Kind::kWelcome) {  // a copy of our own
      ++foreign_;
    }
    control_.pop();
  }
}

// A trader asks until it is answered: the same question gets the same answer.
void Exchange::handle_login(const Login& login) {
  ++logins_;
  const Session* session = session_of(login);
  if (session == nullptr) {
    ++refused_;
  } else {
    control_.send_to(control_target_.get(), session->welcome());
  }
}

Session* Exchange::session_of(const Login& login) {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&login](const auto& one) {
    return one->nonce() == login.nonce;
  });
  if (found != sessions_.end()) return found->get();
  if (sessions_.size() == kSessionsMax || state_ == State::kEnding) return nullptr;
  try {
    sessions_.push_back(std::make_unique<Session>(device_, login, publisher_));
    return sessions_.back().get();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-feed: exchange: a login is refused: %s\n", error.what());
    return nullptr;
  }
}

void Exchange::wait_for_traders(uint64_t now_ns) {
  const auto ready = std::count_if(sessions_.begin(), sessions_.end(),
                                   [](const auto& session) { return session->is_ready(); });
  if (ready >= options_.traders) {
    enter(State::kPublishing, now_ns);
  } else if (now_ns - state_since_ns_ > options_.wait_seconds * kSecondNs) {
    throw std::runtime_error(std::to_string(ready) + " of " + std::to_string(options_.traders) +
                             " traders came to " + options_.control.text + " within " +
                             std::to_string(options_.wait_seconds) +
                             " s: start uroce-feed trader with the same --control-group");
  }
}

// Who has not reported in time has failed.
void Exchange::end(uint64_t now_ns) {
  if (now_ns - state_since_ns_ <= options_.wait_seconds * kSecondNs) return;
  for (const auto& session : sessions_) {
    if (!session->is_done()) session->fail("no totals came from it");
  }
}

bool Exchange::is_done() const {
  return state_ == State::kEnding &&
         std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session->is_done(); });
}

bool Exchange::report() const {
  publisher_.print();
  std::printf("exchange: %" PRIu64 " logins, %" PRIu64 " refused, %" PRIu64 " foreign datagrams\n",
              logins_, refused_, foreign_);
  Failures failures;
  for (const auto& session : sessions_) session->report(failures);
  for (const std::string& failure : failures) {
    std::fprintf(stderr, "uroce-feed: exchange: %s\n", failure.c_str());
  }
  std::printf("exchange: %s\n", failures.empty() ? "all checks held" : "WRONG");
  return failures.empty();
}

}  // namespace uroce::market
