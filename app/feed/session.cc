// SPDX-License-Identifier: BSD-3-Clause
// What the exchange does with what a trader sends.
#include "session.h"

#include <cinttypes>
#include <cstdio>
#include <exception>
#include <random>

#include "clock.h"
#include "common/endpoint.h"

namespace uroce::market {
namespace {

constexpr ChannelShape kShape{.name = "the connection", .receives = 256, .sends = 256};

}  // namespace

Session::Session(ib_device* device, const Login& login, const Publisher& publisher)
    : publisher_(publisher),
      login_(login),
      name_("trader " + app::gid_text(login.gid)),
      link_(device, kShape) {
  const std::vector<Message>& history = publisher.history();
  const auto start = reinterpret_cast<uint64_t>(history.data());
  const uint64_t bytes = history.size() * sizeof(Message);
  history_.reset(
      app::check(ib_reg_user_mr(link_.endpoint().pd(), start, bytes, start, IB_ACCESS_REMOTE_READ),
                 "ib_reg_user_mr"));
  const app::GidEntry own = app::source_gid(device, login.gid);
  const uint32_t psn = std::random_device()() & 0xffffff;
  link_.connect(login.gid, login.qpn, psn, own.index);
  welcome_ = {header_of(Kind::kWelcome),
              link_.qpn(),
              psn,
              login.nonce,
              own.gid,
              start,
              history_->rkey,
              static_cast<uint32_t>(history.size())};
  ordered_.init(1, publisher.triggers());
  tick_to_order_.reserve(publisher.triggers());
}

bool Session::is_done() const {
  return state_ == State::kFailed ||
         (state_ == State::kJudged && link_.completed() >= verdict_number_);
}

void Session::fail(const std::string& sentence) {
  failure_ = sentence;
  state_ = State::kFailed;
}

void Session::step() {
  if (is_done()) return;
  try {
    link_.collect();
    if (link_.empty()) return;
    const uint64_t polled_ns = now_ns();
    for (; !link_.empty() && link_.has_room(); link_.pop()) handle(link_.front(), polled_ns);
  } catch (const std::exception& error) {
    // Behind its verdict a trader may be gone before it has acknowledged it.
    if (state_ == State::kJudged) {
      verdict_number_ = 0;
    } else {
      fail(error.what());
    }
  }
}

void Session::handle(std::span<const uint8_t> data, uint64_t now_ns) {
  Order order{};
  Ready ready{};
  Totals totals{};
  if (read_as(Kind::kOrder, data, order)) {
    handle_order(order, now_ns);
  } else if (state_ == State::kWelcomed && read_as(Kind::kReady, data, ready)) {
    handle_ready();
  } else if (state_ == State::kTrading && read_as(Kind::kTotals, data, totals)) {
    judge(totals);
  } else {
    ++foreign_;
  }
}

// From the next message on the stream is its own as well.
void Session::handle_ready() {
  first_ = publisher_.next();
  link_.send(Start{header_of(Kind::kStart), first_, publisher_.last(), publisher_.triggers(), 0});
  state_ = State::kTrading;
}

bool Session::is_right(const Order& order) const {
  return state_ == State::kTrading && order.trigger >= 1 &&
         order.trigger <= publisher_.triggers() &&
         order.sequence == publisher_.sequence_of(order.trigger) && order.sequence >= first_ &&
         order.sent_ns != 0 && order.sent_ns == publisher_.sent_ns(order.trigger);
}

void Session::handle_order(const Order& order, uint64_t now_ns) {
  if (!is_right(order) || !ordered_.insert(order.trigger)) {
    ++refused_;
    return;
  }
  link_.send(Fill{header_of(Kind::kFill), order.trigger, 0});
  tick_to_order_.add(now_ns - order.sent_ns);
  ++orders_;
  ++fills_;
}

void Session::judge(const Totals& totals) {
  const uint64_t triggers_before = publisher_.triggers_before(first_);
  failures_ = audit(totals, {publisher_.last() + 1 - first_,
                             publisher_.triggers() - triggers_before, orders_, fills_, refused_});
  link_.send(Verdict{header_of(Kind::kVerdict), failures_.empty() ? 1u : 0u, 0}, true);
  verdict_number_ = link_.posted();
  state_ = State::kJudged;
}

void Session::report(Failures& failures) const {
  std::printf("exchange: %s: from message %" PRIu64 ", %" PRIu64 " orders, %" PRIu64
              " fills, %" PRIu64 " orders refused, %" PRIu64 " foreign messages\n",
              name_.c_str(), first_, orders_, fills_, refused_, foreign_);
  std::printf("exchange: %s: tick sent to order received: %s\n", name_.c_str(),
              tick_to_order_.summary().c_str());
  failures.reserve(failures.size() + failures_.size() + 1);
  if (!failure_.empty()) failures.push_back(name_ + ": " + failure_);
  for (const std::string& failure : failures_) failures.push_back(name_ + ": " + failure);
}

}  // namespace uroce::market
