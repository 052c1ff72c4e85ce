// SPDX-License-Identifier: BSD-3-Clause
// The account of a run, and the sentences about what does not add up.
#include "checks.h"

namespace uroce::market {
namespace {

void expect(Failures& failures, bool holds, const std::string& sentence) {
  if (!holds) failures.push_back(sentence);
}

void expect_equal(Failures& failures, uint64_t is, uint64_t wanted, const std::string& what) {
  expect(failures, is == wanted,
         what + ": " + std::to_string(is) + ", not " + std::to_string(wanted));
}

}  // namespace

void OnceSet::init(uint64_t first, uint64_t count) {
  first_ = first;
  there_.assign(count, false);
}

void Ledger::start(const Start& start) {
  wanted_ = start.last - start.first + 1;
  messages_.init(start.first, wanted_);
  orders_.init(1, start.triggers);
  fills_.init(1, start.triggers);
}

bool Ledger::once(uint64_t sequence) {
  const bool first = messages_.insert(sequence);
  repeated_ += !first;
  return first;
}

void Ledger::delivered(const Message& message, uint64_t sequence) {
  broken_ += !is_intact(message, sequence);
  triggers_ += message.trigger != 0;
  totals_.delivered += once(sequence);
}

void Ledger::recovered(const Message& message) {
  triggers_ += message.trigger != 0;
  totals_.recovered += once(message.sequence);
}

void Ledger::lost(uint64_t first, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) totals_.lost += once(first + i);
}

bool Ledger::ordered(uint32_t trigger) {
  const bool good = orders_.insert(trigger);
  ++(good ? totals_.orders : refused_);
  return good;
}

bool Ledger::filled(uint32_t trigger) {
  const bool good = orders_.has(trigger) && fills_.insert(trigger);
  ++(good ? totals_.fills : refused_);
  return good;
}

Failures Ledger::failures(bool recovery) const {
  Failures failures;
  expect_equal(failures, totals_.delivered + totals_.recovered + totals_.lost, wanted_,
               "messages delivered, recovered and lost");
  expect_equal(failures, repeated_, 0, "messages that came twice or are not of the stream");
  expect_equal(failures, broken_, 0, "messages that are not as they were sent");
  expect_equal(failures, totals_.orders, triggers_, "orders, one for each trigger seen");
  expect_equal(failures, totals_.fills, totals_.orders, "fills, one for each order");
  expect_equal(failures, refused_, 0, "second orders, and fills without an order");
  if (recovery) expect_equal(failures, totals_.lost, 0, "messages lost in spite of recovery");
  return failures;
}

Failures check_sides(const uroce_feed_statistics& statistics, uint64_t wanted) {
  Failures failures;
  for (int i = 0; i < UROCE_FEED_SIDES; ++i) {
    const uroce_feed_side_statistics& side = statistics.side[i];
    expect_equal(
        failures, side.wins + side.losses + side.overdue + side.gaps, wanted,
        std::string("wins, losses, overdue and gaps of side ") + (i == UROCE_FEED_A ? "A" : "B"));
  }
  expect_equal(failures, statistics.delivered + statistics.lost, wanted,
               "messages that the arbiter delivered or lost");
  expect_equal(failures, statistics.lost_unsaid, 0, "lost messages without room for their range");
  return failures;
}

Failures audit(const Totals& totals, const TraderFacts& facts) {
  Failures failures;
  expect_equal(failures, totals.delivered + totals.recovered + totals.lost, facts.messages,
               "messages that it accounts for");
  expect_equal(failures, totals.orders, facts.orders, "orders that it sent");
  expect_equal(failures, totals.fills, facts.fills, "fills that it got");
  expect_equal(failures, facts.fills, facts.orders, "fills sent to it");
  expect_equal(failures, facts.refused, 0, "orders refused");
  if (totals.lost == 0) {
    expect_equal(failures, facts.orders, facts.triggers, "orders that came from it");
  } else {
    expect(failures, facts.orders <= facts.triggers, "more orders than triggers came from it");
  }
  return failures;
}

}  // namespace uroce::market
