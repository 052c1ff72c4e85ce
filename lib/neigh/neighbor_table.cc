// SPDX-License-Identifier: BSD-3-Clause
// The states of neighbours. See neighbor_table.h.
#include "neigh/neighbor_table.h"

#include <algorithm>

#include "base/assert.h"

namespace uroce::neigh {

NeighborTable::NeighborTable(uint32_t capacity, uint64_t seed)
    : capacity_(capacity),
      hash_(seed),
      index_(capacity),
      due_(capacity),
      wanted_(capacity),
      entries_(std::make_unique<Entry[]>(capacity)) {
  for (uint32_t slot = capacity; slot-- > 0;) {
    entries_[slot].next_free = free_;
    free_ = slot;
  }
}

Resolution NeighborTable::resolve(Time now, const Gid& neighbor, MacAddress& mac) {
  uint32_t slot = find(neighbor);
  if (slot == kNoSlot) {
    slot = take_slot(neighbor);
    if (slot == kNoSlot) {
      ++table_full_;
      return Resolution::kFailed;
    }
  }
  Entry& entry = entries_[slot];
  entry.used = now;
  age(now, entry);
  switch (entry.state) {
    case NeighborState::kReachable:
      break;
    case NeighborState::kStale:
      if (entry.attempts == 0) ask(now, slot);
      break;
    case NeighborState::kIncomplete:
      if (entry.attempts == 0) ask(now, slot);
      return Resolution::kPending;
    case NeighborState::kFailed:
    case NeighborState::kFree:
      return Resolution::kFailed;
  }
  mac = entry.mac;
  return Resolution::kResolved;
}

// The rules of RFC 4861 7.2.5 for advertisements; an ARP message is one that may replace.
void NeighborTable::handle_news(Time now, const NeighborNews& news) {
  const uint32_t slot = find(news.address);
  if (slot == kNoSlot || news.mac.is_zero() || news.mac.is_multicast()) return;
  Entry& entry = entries_[slot];
  age(now, entry);
  const bool known =
      entry.state == NeighborState::kReachable || entry.state == NeighborState::kStale;
  const bool same = known && entry.mac == news.mac;
  if (known && !same && !news.replaces) {
    // Somebody else claims the address as well: keep what we have, but ask again.
    if (entry.state == NeighborState::kReachable) entry.state = NeighborState::kStale;
    return;
  }
  if (known && !same) ++mac_changes_;
  entry.mac = news.mac;
  if (news.solicited) {
    entry.state = NeighborState::kReachable;
    entry.since = now;
    stop_asking(slot);
  } else if (!same) {
    entry.state = NeighborState::kStale;
    stop_asking(slot);
  }
}

void NeighborTable::handle_timeout(Time now) {
  while (due_.next() <= now) {
    const uint32_t slot = due_.first();
    if (entries_[slot].attempts < kAttempts) {
      ask(now, slot);
      continue;
    }
    entries_[slot].state = NeighborState::kFailed;
    entries_[slot].since = now;
    stop_asking(slot);
    ++failed_;
  }
}

bool NeighborTable::poll_solicitation(Solicitation& out) {
  if (wanted_.empty()) return false;
  const uint32_t slot = wanted_.first();
  wanted_.clear(slot);
  const Entry& entry = entries_[slot];
  out.target = entry.address;
  out.unicast = entry.state == NeighborState::kStale && entry.attempts < kAttempts;
  out.mac = entry.mac;
  return true;
}

Time NeighborTable::poll_timeout() const { return std::min(due_.next(), wanted_.next()); }

NeighborState NeighborTable::state_of(Time now, const Gid& neighbor) const {
  const uint32_t slot = find(neighbor);
  if (slot == kNoSlot) return NeighborState::kFree;
  Entry copy = entries_[slot];
  age(now, copy);
  return copy.state;
}

uint32_t NeighborTable::find(const Gid& address) const {
  return index_.find(hash_(address),
                     [&](uint32_t slot) { return entries_[slot].address == address; });
}

uint32_t NeighborTable::take_slot(const Gid& address) {
  if (free_ == kNoSlot) {
    uint32_t oldest = kNoSlot;
    for (uint32_t slot = 0; slot < capacity_; ++slot) {
      if (entries_[slot].attempts != 0) continue;
      if (oldest == kNoSlot || entries_[slot].used < entries_[oldest].used) oldest = slot;
    }
    if (oldest == kNoSlot) return kNoSlot;
    free_slot(oldest);
  }
  const uint32_t slot = free_;
  free_ = entries_[slot].next_free;
  entries_[slot].address = address;
  entries_[slot].state = NeighborState::kIncomplete;
  index_.insert(hash_(address), slot);
  return slot;
}

void NeighborTable::free_slot(uint32_t slot) {
  index_.erase(hash_(entries_[slot].address), slot,
               [this](uint32_t other) { return hash_(entries_[other].address); });
  stop_asking(slot);
  entries_[slot] = Entry{};
  entries_[slot].next_free = free_;
  free_ = slot;
}

void NeighborTable::ask(Time now, uint32_t slot) {
  ++entries_[slot].attempts;
  wanted_.set(slot, now);
  due_.set(slot, now + kRetransmit);
}

void NeighborTable::link_up(Time now) {
  for (uint32_t slot = 0; slot < capacity_; ++slot) {
    if (entries_[slot].attempts == 0) continue;
    entries_[slot].attempts = 0;
    ask(now, slot);
  }
}

void NeighborTable::stop_asking(uint32_t slot) {
  entries_[slot].attempts = 0;
  wanted_.clear(slot);
  due_.clear(slot);
}

// What time alone makes of an entry.
void NeighborTable::age(Time now, Entry& entry) const {
  if (entry.state == NeighborState::kReachable && now - entry.since >= kReachable) {
    entry.state = NeighborState::kStale;
  } else if (entry.state == NeighborState::kFailed && now - entry.since >= kFailedFor) {
    entry.state = NeighborState::kIncomplete;
  }
}

}  // namespace uroce::neigh
