// SPDX-License-Identifier: BSD-3-Clause
// A bounded ring between one producer thread and one consumer thread. Never allocates after init,
// never blocks, no locked instruction: each side owns its index and caches the other's.
#ifndef UROCE_BASE_SPSC_RING_H
#define UROCE_BASE_SPSC_RING_H

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace uroce {

inline constexpr size_t kCacheLine = 64;

template <typename T>
class SpscRing {
 public:
  // Holds at least `capacity` items (rounded up to a power of two). Allocates here only.
  explicit SpscRing(uint32_t capacity)
      : mask_(std::bit_ceil(capacity < 2 ? 2u : capacity) - 1),
        items_(std::make_unique<T[]>(size_t{mask_} + 1)) {}

  // Producer. False: full, nothing changed.
  bool push(const T& item) {
    const uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - cached_head_ > mask_) {
      cached_head_ = head_.load(std::memory_order_acquire);
      if (tail - cached_head_ > mask_) return false;
    }
    items_[tail & mask_] = item;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  // Consumer. False: empty.
  bool pop(T& item) {
    const uint32_t head = head_.load(std::memory_order_relaxed);
    if (head == cached_tail_) {
      cached_tail_ = tail_.load(std::memory_order_acquire);
      if (head == cached_tail_) return false;
    }
    item = items_[head & mask_];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  // Either side; a snapshot.
  bool empty() const {
    return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire);
  }
  uint32_t capacity() const { return mask_ + 1; }

 private:
  const uint32_t mask_;
  const std::unique_ptr<T[]> items_;
  alignas(kCacheLine) std::atomic<uint32_t> tail_{0};
  uint32_t cached_head_ = 0;
  alignas(kCacheLine) std::atomic<uint32_t> head_{0};
  uint32_t cached_tail_ = 0;
};

}  // namespace uroce

#endif  // UROCE_BASE_SPSC_RING_H
