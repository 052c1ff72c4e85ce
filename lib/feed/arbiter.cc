// SPDX-License-Identifier: BSD-3-Clause
// The arbiter: numbers enter the window with the packet that carries them or lies behind them; the
// first side that brings one wins; when one leaves, the sides that did not bring it have a gap.
#include "feed/arbiter.h"

#include <algorithm>
#include <bit>

namespace uroce::feed {
namespace {

constexpr uint64_t bit_of(uroce_feed_side side) { return uint64_t{1} << side; }

uint32_t late_bucket(uint64_t late_ns) {
  const auto bits = static_cast<uint32_t>(std::bit_width(late_ns | 1));
  return std::min<uint32_t>(bits - 1, UROCE_FEED_LATE_BUCKETS - 1);
}

}  // namespace

void Arbiter::restart(uint64_t first_sequence) {
  window_.restart(first_sequence);
  lost_.clear();
  started_ = first_sequence != 0;
}

bool Arbiter::readable(const void* data, uint32_t length, uroce_feed_arrival& arrival) const {
  return attr_.reader(attr_.reader_context, data, length, &arrival.sequence, &arrival.count) == 0 &&
         arrival.count <= window_.room() && arrival.sequence <= UINT64_MAX - arrival.count;
}

void Arbiter::lose(uint64_t first, uint64_t count) {
  statistics_.lost += count;
  if (!lost_.add(first, count)) statistics_.lost_unsaid += count;
}

// The oldest message leaves the window.
void Arbiter::let_go() {
  const uint64_t sequence = window_.begin();
  const uint64_t sides = window_.leave().sides;
  if (sides == 0) lose(sequence, 1);
  for (const uroce_feed_side side : {UROCE_FEED_A, UROCE_FEED_B}) {
    statistics_.side[side].gaps += (sides & bit_of(side)) == 0;
  }
}

// All numbers before `end` enter. Those of a jump that is wider than the window never fit in.
void Arbiter::extend_to(uint64_t end, uint64_t now_ns) {
  if (end > window_.end() && end - window_.end() > window_.room()) {
    while (!window_.empty()) let_go();
    const uint64_t first = window_.end();
    const uint64_t passed = end - window_.room() - first;
    lose(first, passed);
    for (uroce_feed_side_statistics& side : statistics_.side) side.gaps += passed;
    window_.restart(first + passed);
  }
  while (window_.end() < end) {
    if (window_.full()) let_go();
    window_.enter(now_ns);
  }
}

void Arbiter::take_message(uroce_feed_side side, uint64_t sequence, uint64_t newest_before,
                           uint64_t now_ns, uroce_feed_arrival& arrival) {
  uroce_feed_side_statistics& mine = statistics_.side[side];
  Message& message = window_[sequence];
  if ((message.sides & bit_of(side)) != 0) {
    ++mine.repeats;
    return;
  }
  if (message.sides == 0) {
    message.time_ns = now_ns;
    message.arrival = arrivals_;
    ++arrival.fresh;
    ++mine.wins;
    statistics_.filled += sequence < newest_before;
  } else {
    const uint64_t late_ns = now_ns - std::min(now_ns, message.time_ns);
    if (sequence == arrival.sequence) arrival.late_ns = late_ns;
    ++mine.losses;
    ++mine.late[late_bucket(late_ns)];
  }
  message.sides |= bit_of(side);
}

uroce_feed_verdict Arbiter::arrive(uroce_feed_side side, const void* data, uint32_t length,
                                   uint64_t now_ns, uroce_feed_arrival& arrival) {
  uroce_feed_side_statistics& mine = statistics_.side[side];
  ++mine.packets;
  ++arrivals_;
  arrival = {};
  if (!readable(data, length, arrival)) [[unlikely]] {
    ++mine.unreadable;
    return UROCE_FEED_UNREADABLE;
  }
  if (!started_) [[unlikely]] {
    window_.restart(arrival.sequence);
    started_ = true;
  }
  const uint64_t newest = window_.end();
  const uint64_t end = arrival.sequence + arrival.count;
  if (arrival.sequence > newest) arrival.missing = arrival.sequence - newest;
  extend_to(end, now_ns);
  const uint64_t known = std::min(std::max(arrival.sequence, window_.begin()), end);
  mine.stale += known - arrival.sequence;
  for (uint64_t sequence = known; sequence < end; ++sequence) {
    take_message(side, sequence, newest, now_ns, arrival);
  }
  statistics_.delivered += arrival.fresh;
  if (arrival.fresh != 0) return UROCE_FEED_NEW;
  if (arrival.count == 0) return UROCE_FEED_HEARTBEAT;
  return known == end ? UROCE_FEED_STALE : UROCE_FEED_DUPLICATE;
}

bool Arbiter::is_fresh(uint64_t sequence) const {
  return window_.knows(sequence) && window_[sequence].sides != 0 &&
         window_[sequence].arrival == arrivals_;
}

bool Arbiter::take_lost(uint64_t now_ns, uroce_feed_range& range) {
  if (attr_.patience_ns != 0) {
    while (!window_.empty()) {
      const uint64_t since = window_[window_.begin()].time_ns;
      if (now_ns < since || now_ns - since < attr_.patience_ns) break;
      let_go();
    }
  }
  return lost_.take(range);
}

}  // namespace uroce::feed
