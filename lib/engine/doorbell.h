// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: how a posting thread tells the engine that a queue has work, without a queue between.
//
// Two levels: one bit per QP slot, 64 to a word, and one byte per word. A producer touches the byte
// only when it finds its bit clear, so a busy queue costs one locked instruction per post call, and
// none at all when poster and engine are the same thread.
#ifndef UROCE_ENGINE_DOORBELL_H
#define UROCE_ENGINE_DOORBELL_H

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "transport/work_queue.h"

namespace uroce::engine {

class Doorbells {
 public:
  // `exclusive`: posters are the engine's own thread. Allocates here only.
  Doorbells(uint32_t qp_slots, bool exclusive)
      : exclusive_(exclusive),
        group_count_((qp_slots + 63) / 64),
        groups_(std::make_unique<std::atomic<uint8_t>[]>(group_count_)),
        rung_(std::make_unique<std::atomic<uint64_t>[]>(group_count_)) {}

  // Any posting thread, after it has published its WQEs.
  void ring(uint32_t qp_slot) {
    const uint32_t group = qp_slot / 64;
    const uint64_t bit = uint64_t{1} << (qp_slot % 64);
    if ((set(rung_[group], bit) & bit) != 0) return;
    groups_[group].store(1, std::memory_order_release);
    any_.store(1, std::memory_order_release);
  }

  // The engine: calls visit(qp_slot) for each bell that rang since the last call.
  template <typename Visit>
  void collect(Visit&& visit) {
    if (any_.load(std::memory_order_relaxed) == 0) return;
    take(any_);
    for (uint32_t group = 0; group < group_count_; ++group) {
      if (groups_[group].load(std::memory_order_relaxed) == 0) continue;
      take(groups_[group]);
      for (uint64_t bits = take(rung_[group]); bits != 0; bits &= bits - 1) {
        visit(group * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  // Returns what was set before. A bit that was set is about to be heard: whoever set it has told
  // the engine, or is telling it now.
  uint64_t set(std::atomic<uint64_t>& bits, uint64_t bit) {
    if (!exclusive_) return bits.fetch_or(bit, std::memory_order_acq_rel);
    const uint64_t before = bits.load(std::memory_order_relaxed);
    bits.store(before | bit, std::memory_order_relaxed);
    return before;
  }
  // Taking is an exchange: what a producer stored before its bell is visible after it.
  template <typename T>
  T take(std::atomic<T>& value) {
    if (!exclusive_) return value.exchange(0, std::memory_order_acq_rel);
    const T before = value.load(std::memory_order_relaxed);
    value.store(0, std::memory_order_relaxed);
    return before;
  }

  const bool exclusive_;
  const uint32_t group_count_;
  const std::unique_ptr<std::atomic<uint8_t>[]> groups_;
  const std::unique_ptr<std::atomic<uint64_t>[]> rung_;
  alignas(kCacheLine) std::atomic<uint8_t> any_{0};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_DOORBELL_H
