// SPDX-License-Identifier: BSD-3-Clause
// Deadlines of slots: which slot is due first. For control traffic (reports, solicitations); the
// packet path has the timer wheel.
//
// A binary heap of (deadline, slot) in an array, with the position of each slot beside it, so that
// a deadline can be moved or dropped in O(log n). Slots with equal deadlines come in the order of
// their number: a run repeats exactly.
#ifndef UROCE_BASE_DUE_HEAP_H
#define UROCE_BASE_DUE_HEAP_H

#include <cstdint>
#include <memory>

#include "base/assert.h"
#include "base/slot_index.h"
#include "base/types.h"

namespace uroce {

class DueHeap {
 public:
  // For the slots 0 … slots_max - 1.
  explicit DueHeap(uint32_t slots_max)
      : slots_max_(slots_max),
        heap_(std::make_unique<Entry[]>(slots_max)),
        position_(std::make_unique<uint32_t[]>(slots_max)) {
    for (uint32_t i = 0; i < slots_max; ++i) position_[i] = kNoSlot;
  }

  // Sets or moves the deadline of a slot; kNever takes it out.
  void set(uint32_t slot, Time due) {
    UROCE_ASSERT(slot < slots_max_);
    uint32_t at = position_[slot];
    if (due == kNever) {
      if (at != kNoSlot) remove(at);
      return;
    }
    if (at == kNoSlot) at = size_++;
    place(at, {due, slot});
    sift_up(at);
    sift_down(position_[slot]);
  }
  void clear(uint32_t slot) { set(slot, kNever); }

  bool empty() const { return size_ == 0; }
  // The earliest deadline, or kNever.
  Time next() const { return size_ == 0 ? kNever : heap_[0].due; }
  // The slot of the earliest deadline; not for an empty heap.
  uint32_t first() const {
    UROCE_ASSERT(size_ > 0);
    return heap_[0].slot;
  }
  Time due(uint32_t slot) const {
    return position_[slot] == kNoSlot ? kNever : heap_[position_[slot]].due;
  }

 private:
  struct Entry {
    Time due{};
    uint32_t slot = 0;
    bool before(const Entry& other) const {
      return due != other.due ? due < other.due : slot < other.slot;
    }
  };

  void place(uint32_t at, Entry entry) {
    heap_[at] = entry;
    position_[entry.slot] = at;
  }
  void swap(uint32_t a, uint32_t b) {
    const Entry entry = heap_[a];
    place(a, heap_[b]);
    place(b, entry);
  }
  void sift_up(uint32_t at) {
    for (; at > 0 && heap_[at].before(heap_[(at - 1) / 2]); at = (at - 1) / 2) {
      swap(at, (at - 1) / 2);
    }
  }
  void sift_down(uint32_t at) {
    for (;;) {
      uint32_t least = at;
      for (uint32_t child = 2 * at + 1; child < 2 * at + 3 && child < size_; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (least == at) return;
      swap(at, least);
      at = least;
    }
  }
  void remove(uint32_t at) {
    position_[heap_[at].slot] = kNoSlot;
    const Entry last = heap_[--size_];
    if (at == size_) return;
    place(at, last);
    sift_up(at);
    sift_down(position_[last.slot]);
  }

  uint32_t slots_max_;
  uint32_t size_ = 0;
  std::unique_ptr<Entry[]> heap_;
  std::unique_ptr<uint32_t[]> position_;
};

}  // namespace uroce

#endif  // UROCE_BASE_DUE_HEAP_H
