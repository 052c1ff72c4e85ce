// SPDX-License-Identifier: BSD-3-Clause
// Grace periods for an engine: how it learns, without waiting, that no other engine still uses what
// it has unpublished.
//
// The engine asks for a ticket behind its unpublishing store. One round at a time runs: it notes
// the turn of every other engine and is over when each of them was seen outside or in a later one.
// A round that runs already may have begun before the store, so a ticket is good for the next one
// to begin. Any number of askers share a round, and the memory needed does not depend on them.
#ifndef UROCE_BASE_GRACE_ROUNDS_H
#define UROCE_BASE_GRACE_ROUNDS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/epoch.h"

namespace uroce {

// One engine's; without watch() there is no other engine and every ticket is over.
class GraceRounds {
 public:
  // `engines` may be filled until the first of them is driven and outlives this; nullptr entries
  // are engines that nobody drives. Allocates here only.
  void watch(const std::vector<const EpochSlot*>& engines, uint32_t own, uint32_t engine_count) {
    engines_ = &engines;
    own_ = own;
    snapshots_.assign(engine_count, 0);
  }

  // A ticket for the first round that begins from now on.
  uint64_t ask() {
    if (snapshots_.size() <= 1) return 0;
    const uint64_t ticket = done_ + (running_ ? 2 : 1);
    wanted_ = ticket;
    advance();
    return ticket;
  }
  bool over(uint64_t ticket) {
    if (ticket > done_) advance();
    return ticket <= done_;
  }

 private:
  void advance() {
    while (running_ || wanted_ > done_) {
      if (!running_) begin();
      if (!passed()) return;
      running_ = false;
      ++done_;
    }
  }
  const EpochSlot* other(size_t index) const {
    return index == own_ || index >= engines_->size() ? nullptr : (*engines_)[index];
  }
  void begin() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (size_t i = 0; i < snapshots_.size(); ++i) {
      if (const EpochSlot* slot = other(i)) snapshots_[i] = slot->snapshot();
    }
    running_ = true;
  }
  bool passed() const {
    for (size_t i = 0; i < snapshots_.size(); ++i) {
      const EpochSlot* slot = other(i);
      if (slot != nullptr && !slot->quiet_since(snapshots_[i])) return false;
    }
    return true;
  }

  const std::vector<const EpochSlot*>* engines_ = nullptr;
  uint32_t own_ = 0;
  std::vector<uint64_t> snapshots_;
  uint64_t done_ = 0;    // rounds
  uint64_t wanted_ = 0;  // the newest ticket
  bool running_ = false;
};

}  // namespace uroce

#endif  // UROCE_BASE_GRACE_ROUNDS_H
