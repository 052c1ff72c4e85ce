// SPDX-License-Identifier: BSD-3-Clause
// Which MAC address a neighbour has, for IPv4 and IPv6 in one table of fixed capacity.
//
// States (after RFC 4861, for ARP as well):
//   incomplete  asked for, no answer yet: up to 3 solicitations, 1 s apart; then failed
//   reachable   answered within the last 30 s
//   stale       known, but unconfirmed: usable; the next use asks again, twice to the known MAC
//               address and once to all, while the MAC stays in use
//   failed      no answer: refused for 1 s (so that a caller in a loop draws no storm), then the
//               next use starts afresh
// Only our own use creates entries. What others send may change an entry that is there, never add
// one, so no stranger can fill the table. A full table gives up the entry that was used longest
// ago, but none that is being asked for.
#ifndef UROCE_NEIGH_NEIGHBOR_TABLE_H
#define UROCE_NEIGH_NEIGHBOR_TABLE_H

#include <cstdint>
#include <memory>

#include "base/counter.h"
#include "base/due_heap.h"
#include "base/keyed_hash.h"
#include "base/slot_index.h"
#include "base/types.h"

namespace uroce::neigh {

enum class Resolution : uint8_t { kResolved, kPending, kFailed, kNoRoute };
enum class NeighborState : uint8_t { kFree, kIncomplete, kReachable, kStale, kFailed };

// What a frame says of a neighbour's MAC address.
struct NeighborNews {
  Gid address;
  MacAddress mac;
  bool solicited = false;  // an answer to us: the neighbour can be reached
  bool replaces = true;    // may replace a MAC address that is known (ND: the override flag)
};

struct Solicitation {
  Gid target;
  bool unicast = false;  // to `mac`, else to all
  MacAddress mac;
};

class NeighborTable {
 public:
  static constexpr uint8_t kAttempts = 3;
  static constexpr Duration kRetransmit = std::chrono::seconds(1);
  static constexpr Duration kReachable = std::chrono::seconds(30);
  static constexpr Duration kFailedFor = std::chrono::seconds(1);

  // `seed` keys the hash.
  NeighborTable(uint32_t capacity, uint64_t seed);

  // The MAC address of a neighbour, for use now. Unknown: asks for it and says kPending.
  Resolution resolve(Time now, const Gid& neighbor, MacAddress& mac);

  void handle_news(Time now, const NeighborNews& news);
  void handle_timeout(Time now);
  // What was asked may have been lost: asks again, as often as for the first time.
  void link_up(Time now);

  // The next solicitation that is to be sent; false: none.
  bool poll_solicitation(Solicitation& out);
  // When handle_timeout or poll_solicitation has something next, or kNever.
  Time poll_timeout() const;

  NeighborState state_of(Time now, const Gid& neighbor) const;
  uint32_t size() const { return index_.size(); }

  // Counters.
  uint64_t failed() const { return failed_.value(); }
  uint64_t table_full() const { return table_full_.value(); }
  // Grows when a known neighbour has another MAC address: what was copied before may be old.
  uint64_t mac_changes() const { return mac_changes_.value(); }

 private:
  struct Entry {
    Gid address{};
    MacAddress mac{};
    NeighborState state = NeighborState::kFree;
    uint8_t attempts = 0;  // solicitations since the last answer
    Time since{};          // reachable: of the last answer; failed: of the failure
    Time used{};
    uint32_t next_free = kNoSlot;
  };

  uint32_t find(const Gid& address) const;
  uint32_t take_slot(const Gid& address);
  void free_slot(uint32_t slot);
  void ask(Time now, uint32_t slot);
  void stop_asking(uint32_t slot);
  void age(Time now, Entry& entry) const;

  uint32_t capacity_;
  uint32_t free_ = kNoSlot;
  KeyedHash hash_;
  SlotIndex index_;
  DueHeap due_;     // next attempt, or giving up
  DueHeap wanted_;  // solicitations to be sent
  std::unique_ptr<Entry[]> entries_;
  Counter failed_;
  Counter table_full_;
  Counter mac_changes_;
};

}  // namespace uroce::neigh

#endif  // UROCE_NEIGH_NEIGHBOR_TABLE_H
