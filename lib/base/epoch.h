// SPDX-License-Identifier: BSD-3-Clause
// Grace periods: how a control thread knows that no engine still uses what it has unpublished.
//
// Each engine has a slot whose number is odd inside a loop turn and even outside. A control thread
// unpublishes first, then waits for each slot that it finds odd to change. An engine that nobody
// drives is outside a turn and so counts as quiet. The sequentially consistent store at the start
// of a turn is what makes this sound: either the waiter sees the turn, or the turn sees the table
// without the entry. (What the turn reads of the table is not sequentially consistent; that it
// cannot be read before the store is seen is x86's: a store of that kind drains the store buffer.)
#ifndef UROCE_BASE_EPOCH_H
#define UROCE_BASE_EPOCH_H

#include <atomic>
#include <cstdint>

#include "base/spsc_ring.h"

namespace uroce {

class alignas(kCacheLine) EpochSlot {
 public:
  // Engine's driver. `exclusive`: every control call comes from this same thread, so no other
  // thread ever waits and no locked instruction is needed.
  void begin_turn(bool exclusive) {
    const uint64_t next = turn_.load(std::memory_order_relaxed) + 1;
    turn_.store(next, exclusive ? std::memory_order_relaxed : std::memory_order_seq_cst);
  }
  void end_turn() {
    turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Control thread, after a sequentially consistent fence behind its unpublishing store.
  uint64_t snapshot() const { return turn_.load(std::memory_order_seq_cst); }
  bool quiet_since(uint64_t snapshot) const {
    return (snapshot & 1) == 0 || turn_.load(std::memory_order_acquire) != snapshot;
  }
  bool inside_turn() const { return (turn_.load(std::memory_order_acquire) & 1) != 0; }

 private:
  std::atomic<uint64_t> turn_{0};
};

}  // namespace uroce

#endif  // UROCE_BASE_EPOCH_H
