// SPDX-License-Identifier: BSD-3-Clause
// The arbiter: numbers enter the window with the packet that carries them or lies behind them; the
// first side that brings one wins; one that is missing for too long is given up, but stays; when
// one leaves, the sides that did not bring it have a gap.
#include "feed/arbiter.h"

#include <algorithm>
#include <bit>

namespace uroce::feed {
namespace {

constexpr uint64_t kBeforeJump = 64;  // messages before a jump that may still come; fits any window

constexpr uint64_t bit_of(uroce_feed_side side) { return uint64_t{1} << side; }

uint32_t late_bucket(uint64_t late_ns) {
  const auto bits = static_cast<uint32_t>(std::bit_width(late_ns | 1));
  return std::min<uint32_t>(bits - 1, UROCE_FEED_LATE_BUCKETS - 1);
}

}  // namespace

void Arbiter::restart(uint64_t first_sequence) {
  let_all_go();
  statistics_.lost_unsaid += lost_.clear();
  window_.restart(first_sequence);
  judged_ = first_sequence;
  started_ = first_sequence != 0;
  for (uint64_t& end : beyond_) end = 0;
}

bool Arbiter::read(const void* data, uint32_t length, uroce_feed_arrival& arrival) const {
  return attr_.reader(attr_.reader_context, data, length, &arrival.sequence, &arrival.count) == 0;
}

// Whether the numbers can be. One wild number must not move the feed; the stream itself may jump,
// and then the side's next packet goes on from there.
bool Arbiter::believes(uroce_feed_side side, const uroce_feed_arrival& arrival) {
  if (arrival.count > window_.room() || arrival.sequence > UINT64_MAX - arrival.count) return false;
  const auto is_near = [&](uint64_t end) {
    return arrival.sequence <= end || arrival.sequence - end <= attr_.jump_max;
  };
  uint64_t& beyond = beyond_[side];
  if (!started_ || is_near(window_.end()) ||
      (beyond != 0 && arrival.sequence >= beyond && is_near(beyond))) {
    beyond = 0;
    return true;
  }
  beyond = arrival.sequence + arrival.count;
  return false;
}

void Arbiter::lose(uint64_t first, uint64_t count) {
  statistics_.lost += count;
  if (!lost_.add(first, count)) statistics_.lost_unsaid += count;
}

// The oldest message leaves the window.
void Arbiter::let_go() {
  const uint64_t sequence = window_.begin();
  const uint64_t sides = window_.leave().sides;
  if (sides == 0) {
    --missing_;
    lose(sequence, 1);
  }
  for (const uroce_feed_side side : {UROCE_FEED_A, UROCE_FEED_B}) {
    const bool has = (sides & bit_of(side)) != 0;
    brought_[side] -= has;
    statistics_.side[side].gaps += !has;
  }
}

// All messages leave; what is missing is looked for only when there is any.
void Arbiter::let_all_go() {
  for (uint64_t at = std::max(judged_, window_.begin()); missing_ != 0; ++at) {
    if (window_[at].sides != 0) continue;
    --missing_;
    lose(at, 1);
  }
  for (const uroce_feed_side side : {UROCE_FEED_A, UROCE_FEED_B}) {
    statistics_.side[side].gaps += window_.size() - brought_[side];
    brought_[side] = 0;
  }
  window_.restart(window_.end());
}

// All numbers up to the packet's end enter. After a jump that is wider than the window it begins
// just before the packet, so that a jump costs no more the wider it is.
void Arbiter::extend_to(const uroce_feed_arrival& arrival, uint64_t now_ns) {
  const uint64_t end = arrival.sequence + arrival.count;
  if (end > window_.end() && end - window_.end() > window_.room()) {
    let_all_go();
    const uint64_t first = std::min(arrival.sequence, end - kBeforeJump);
    const uint64_t passed = first - window_.end();
    lose(window_.end(), passed);
    for (uroce_feed_side_statistics& side : statistics_.side) side.gaps += passed;
    window_.restart(first);
  }
  while (window_.end() < end) {
    if (window_.full()) let_go();
    window_.enter(now_ns);
    ++missing_;
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
    --missing_;
    statistics_.filled += sequence < newest_before;
  } else if ((message.sides & kGivenUp) != 0) {
    ++mine.stale;
    ++mine.overdue;
  } else {
    const uint64_t late_ns = now_ns - std::min(now_ns, message.time_ns);
    if (sequence == arrival.sequence) arrival.late_ns = late_ns;
    ++mine.losses;
    ++mine.late[late_bucket(late_ns)];
  }
  message.sides |= bit_of(side);
  ++brought_[side];
}

uroce_feed_verdict Arbiter::refuse(uroce_feed_arrival& arrival) {
  ++arrivals_;
  arrival = {};
  return UROCE_FEED_UNREADABLE;
}

uroce_feed_verdict Arbiter::arrive(uroce_feed_side side, const void* data, uint32_t length,
                                   uint64_t now_ns, uroce_feed_arrival& arrival) {
  uroce_feed_side_statistics& mine = statistics_.side[side];
  ++mine.packets;
  ++arrivals_;
  arrival = {};
  if (!read(data, length, arrival)) [[unlikely]] {
    arrival = {};
    ++mine.unreadable;
    return UROCE_FEED_UNREADABLE;
  }
  if (!believes(side, arrival)) [[unlikely]] {
    ++mine.unreadable;
    return UROCE_FEED_UNREADABLE;
  }
  if (!started_) [[unlikely]] {
    window_.restart(arrival.sequence);
    started_ = true;
  }
  const uint64_t newest = window_.end();
  const uint64_t end = arrival.sequence + arrival.count;
  const uint64_t stale_before = mine.stale;
  if (arrival.sequence > newest) arrival.missing = arrival.sequence - newest;
  extend_to(arrival, now_ns);
  const uint64_t known = std::min(std::max(arrival.sequence, window_.begin()), end);
  mine.stale += known - arrival.sequence;
  for (uint64_t sequence = known; sequence < end; ++sequence) {
    take_message(side, sequence, newest, now_ns, arrival);
  }
  statistics_.delivered += arrival.fresh;
  if (arrival.fresh != 0) return UROCE_FEED_NEW;
  if (arrival.count == 0) return UROCE_FEED_HEARTBEAT;
  return mine.stale - stale_before == arrival.count ? UROCE_FEED_STALE : UROCE_FEED_DUPLICATE;
}

bool Arbiter::is_fresh(uint64_t sequence) const {
  return window_.knows(sequence) && window_[sequence].sides != 0 &&
         window_[sequence].arrival == arrivals_;
}

// Gives up what has been missing for too long. Messages are found missing in their order, so the
// first that has time left ends the search; those that came do not count, whenever that was.
void Arbiter::judge(uint64_t now_ns) {
  if (attr_.patience_ns == 0) return;
  judged_ = missing_ == 0 ? window_.end() : std::max(judged_, window_.begin());
  for (; missing_ != 0; ++judged_) {
    Message& message = window_[judged_];
    if (message.sides != 0) continue;
    const uint64_t since_ns = message.time_ns;
    if (now_ns < since_ns || now_ns - since_ns < attr_.patience_ns) return;
    message.sides = kGivenUp;
    --missing_;
    lose(judged_, 1);
  }
}

bool Arbiter::take_lost(uint64_t now_ns, uroce_feed_range& range) {
  judge(now_ns);
  return lost_.take(range);
}

}  // namespace uroce::feed
