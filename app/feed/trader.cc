// SPDX-License-Identifier: BSD-3-Clause
// The trader's steps. From START on the path takes nothing from the system.
#include "trader.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>

#include "clock.h"
#include "common/endpoint.h"

namespace uroce::market {
namespace {

constexpr uint64_t kLoginEveryNs = kSecondNs / 10;
constexpr uint32_t kPacketsAtOnce = 64;  // of a side, before the other has its turn
constexpr ChannelShape kControlShape{.name = "the control group", .type = IB_QPT_UD};
constexpr ChannelShape kLinkShape{.name = "the connection to the exchange",
                                  .receives = 256,
                                  .sends = 512,
                                  .landing_bytes = Recovery::kLandingBytes};

uint64_t draw_nonce() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

}  // namespace

Trader::Control::Control(ib_device* device, const Group& group)
    : channel(device, kControlShape),
      target(channel, group.gid, kControlQkey),
      membership(channel, group) {
  channel.activate(kControlQkey);
}

Trader::Trader(ib_device* const (&devices)[2], const Options& options)
    : device_(devices[0]),
      options_(options),
      link_(device_, kLinkShape),
      arbiter_(devices, options),
      recovery_(link_),
      own_(app::source_gid(device_, options.control.gid)),
      heard_ns_(now_ns()) {
  control_.emplace(device_, options.control);
  login_ = {header_of(Kind::kLogin), link_.qpn(), 0, draw_nonce(), own_.gid};
  std::printf("trader: logs in at %s\n", options.control.text.c_str());
  std::fflush(stdout);
}

void Trader::step() {
  const uint64_t now = now_ns();
  if (state_ == State::kLogin) {
    log_in(now);
  } else if (state_ != State::kDone) {
    take_answers();
    if (state_ == State::kTrading) {
      follow_feed(now);
      mend(now);
      report_totals(now);
    }
  }
  if (state_ != State::kDone) watch_silence(now);
}

// The answer may be lost like any datagram, so the question is repeated until it is there.
void Trader::log_in(uint64_t now_ns) {
  Channel& channel = control_->channel;
  if (now_ns - asked_ns_ > kLoginEveryNs && channel.has_room()) {
    channel.send_to(control_->target.get(), login_);
    asked_ns_ = now_ns;
  }
  channel.collect();
  while (!channel.empty()) {
    Welcome welcome{};
    const std::span<const uint8_t> data = channel.front();
    const bool is_welcome = read_as(Kind::kWelcome, data, welcome);
    foreign_ += !is_welcome && kind_of(data) != Kind::kLogin;  // copies of our own
    channel.pop();
    if (!is_welcome || welcome.nonce != login_.nonce) continue;
    handle_welcome(welcome);
    return;
  }
}

void Trader::handle_welcome(const Welcome& welcome) {
  if (welcome.history_slots == 0) throw std::runtime_error("the exchange has no history");
  link_.connect(welcome.gid, welcome.qpn, welcome.psn, own_.index);
  recovery_.start(welcome);
  control_.reset();
  link_.send(Ready{header_of(Kind::kReady)});
  state_ = State::kReady;
}

void Trader::take_answers() {
  link_.collect();
  if (link_.empty()) return;
  heard_ns_ = now_ns();
  for (; !link_.empty(); link_.pop()) handle_answer(link_.front(), heard_ns_);
}

void Trader::handle_answer(std::span<const uint8_t> data, uint64_t now_ns) {
  Fill fill{};
  Start start{};
  Verdict verdict{};
  if (read_as(Kind::kFill, data, fill)) {
    handle_fill(fill, now_ns);
  } else if (state_ == State::kReady && read_as(Kind::kStart, data, start)) {
    handle_start(start);
  } else if (state_ == State::kReported && read_as(Kind::kVerdict, data, verdict)) {
    verdict_good_ = verdict.good == 1;
    state_ = State::kDone;
  } else {
    ++foreign_;
  }
}

// All memory that the stream will need.
void Trader::handle_start(const Start& start) {
  if (start.first == 0 || start.last > kMessagesMax || start.first > start.last + 1 ||
      start.triggers > start.last) {
    throw std::runtime_error("the exchange announces messages " + std::to_string(start.first) +
                             " … " + std::to_string(start.last) + ", at most " +
                             std::to_string(kMessagesMax) + " are possible");
  }
  ledger_.start(start);
  ordered_ns_.resize(size_t{start.triggers} + 1);
  tick_to_order_.reserve(start.triggers);
  order_to_fill_.reserve(start.triggers);
  arbiter_.start(start.first, start.last);
  state_ = State::kTrading;
}

void Trader::handle_fill(const Fill& fill, uint64_t now_ns) {
  if (ledger_.filled(fill.trigger)) order_to_fill_.add(now_ns - ordered_ns_[fill.trigger]);
}

void Trader::follow_feed(uint64_t now_ns) {
  for (int side = 0; side < UROCE_FEED_SIDES; ++side) follow_side(side, now_ns);
}

// A packet is looked at only when the orders that it may want have room.
void Trader::follow_side(int side, uint64_t now_ns) {
  for (uint32_t i = 0; i < kPacketsAtOnce && link_.has_room(kPacketMessagesMax); ++i) {
    if (!arbiter_.collect(side)) return;
    const uint64_t tick_ns = market::now_ns();
    uroce_feed_arrival arrival{};
    const uroce_feed_verdict verdict = arbiter_.look(side, tick_ns, arrival);
    if (verdict == UROCE_FEED_NEW) take_packet(side, arrival, tick_ns);
    const bool ends = kind_of(arbiter_.front(side)) == Kind::kEnd;
    if (verdict == UROCE_FEED_HEARTBEAT && ends) see_end(side, tick_ns);
    if (verdict != UROCE_FEED_UNREADABLE) heard_ns_ = now_ns;
    arbiter_.pop(side);
  }
}

void Trader::see_end(int side, uint64_t now_ns) {
  ended_[side] = true;
  if (end_ns_ == 0) end_ns_ = now_ns;
}

void Trader::take_packet(int side, const uroce_feed_arrival& arrival, uint64_t now_ns) {
  const uint8_t* const packet = arbiter_.front(side).data();
  for (uint32_t i = 0; i < arrival.count; ++i) {
    const uint64_t sequence = arrival.sequence + i;
    if (arrival.fresh < arrival.count && !arbiter_.is_fresh(sequence)) continue;
    const Message message = read_message(packet, i);
    react(message, now_ns);
    ledger_.delivered(message, sequence);
  }
}

// What neither side brought is READ from the exchange, or given up.
void Trader::mend(uint64_t now_ns) {
  uroce_feed_range range{};
  if (!options_.recovery) {
    while (arbiter_.take_lost(now_ns, range)) ledger_.lost(range.first, range.count);
    return;
  }
  if (recovery_.wants_range() && arbiter_.take_lost(now_ns, range)) recovery_.ask(range);
  recovery_.step();
  while (link_.has_room(Recovery::kReadMessagesMax)) {
    const Recovery::Piece* const piece = recovery_.finished();
    if (piece == nullptr) return;
    take_recovered(*piece, now_ns);
    recovery_.pop();
    heard_ns_ = now_ns;
  }
}

void Trader::take_recovered(const Recovery::Piece& piece, uint64_t now_ns) {
  for (uint32_t i = 0; i < piece.count; ++i) {
    const Message message = recovery_.read(piece, i);
    if (is_intact(message, piece.first + i)) {
      react(message, now_ns);
      ledger_.recovered(message);
    } else {
      ++overwritten_;
      ledger_.lost(piece.first + i, 1);
    }
  }
}

// The order goes out before anything is written down.
void Trader::react(const Message& message, uint64_t tick_ns) {
  if (message.trigger == 0 || !ledger_.ordered(message.trigger)) return;
  link_.send(Order{header_of(Kind::kOrder), message.trigger, 0, message.sequence, message.sent_ns});
  const uint64_t posted_ns = now_ns();
  ordered_ns_[message.trigger] = posted_ns;
  tick_to_order_.add(posted_ns - tick_ns);
}

// When every message is accounted for, every order is filled, and both sides have shown the end;
// one of them may not, and is waited for as long as for a message.
void Trader::report_totals(uint64_t now_ns) {
  const uint64_t patience_ns = uint64_t{options_.patience_us} * 1000;
  if (end_ns_ == 0 || !recovery_.is_idle()) return;
  if (!(ended_[0] && ended_[1]) && now_ns < end_ns_ + patience_ns) return;
  if (!ledger_.complete() || !ledger_.all_filled() || !link_.has_room()) return;
  arbiter_.end();
  link_.send(ledger_.totals());
  state_ = State::kReported;
}

void Trader::watch_silence(uint64_t now_ns) const {
  if (now_ns - std::min(now_ns, heard_ns_) <= options_.wait_seconds * kSecondNs) return;
  const std::string seconds = std::to_string(options_.wait_seconds) + " s";
  if (state_ == State::kLogin) {
    throw std::runtime_error("no exchange answers at " + options_.control.text + " within " +
                             seconds + ": start uroce-feed exchange with the same --control-group");
  }
  throw std::runtime_error("nothing came from the exchange for " + seconds +
                           ": is it still running?");
}

}  // namespace uroce::market
