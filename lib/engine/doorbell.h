// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: how a posting thread tells the engine that a queue has work, without a queue between.
//
// Three levels: one bit per QP slot, 64 to a word; one bit per such word; one byte for all. A
// producer touches a level only when it finds its bit in the one below clear, so a busy queue costs
// one locked instruction per post call, and none at all when poster and engine are the same thread.
// Levels are set upwards and taken downwards, so no bell is lost between them; that the plain store
// to the topmost stays behind the locked ones is x86's.
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
        summary_count_((qp_slots + kWord * kWord - 1) / (kWord * kWord)),
        summaries_(std::make_unique<std::atomic<uint64_t>[]>(summary_count_)),
        rung_(std::make_unique<std::atomic<uint64_t>[]>((qp_slots + kWord - 1) / kWord)) {}

  // Any posting thread, after it has published its WQEs.
  void ring(uint32_t qp_slot) {
    const uint32_t word = qp_slot / kWord;
    if (set(rung_[word], qp_slot % kWord)) return;
    if (set(summaries_[word / kWord], word % kWord)) return;
    any_.store(1, std::memory_order_release);
  }

  // The engine: whether collect() would find any.
  bool any() const { return any_.load(std::memory_order_relaxed) != 0; }

  // The engine: calls visit(qp_slot) for each bell that rang since the last call.
  template <typename Visit>
  void collect(Visit&& visit) {
    if (!any()) return;
    take(any_);
    for (uint32_t i = 0; i < summary_count_; ++i) {
      if (summaries_[i].load(std::memory_order_relaxed) == 0) continue;
      for_each_bit(take(summaries_[i]), i,
                   [&](uint32_t word) { for_each_bit(take(rung_[word]), word, visit); });
    }
  }

 private:
  static constexpr uint32_t kWord = 64;

  // Sets a bit and returns whether it was set before. Then it is about to be heard: whoever set it
  // has told the engine, or is telling it now.
  bool set(std::atomic<uint64_t>& bits, uint32_t number) {
    const uint64_t bit = uint64_t{1} << number;
    if (!exclusive_) return (bits.fetch_or(bit, std::memory_order_acq_rel) & bit) != 0;
    const uint64_t before = bits.load(std::memory_order_relaxed);
    bits.store(before | bit, std::memory_order_relaxed);
    return (before & bit) != 0;
  }
  // Calls visit for each bit of word `index`, counted over all words.
  template <typename Visit>
  static void for_each_bit(uint64_t bits, uint32_t index, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) {
      visit(index * kWord + static_cast<uint32_t>(std::countr_zero(bits)));
    }
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
  const uint32_t summary_count_;
  const std::unique_ptr<std::atomic<uint64_t>[]> summaries_;
  const std::unique_ptr<std::atomic<uint64_t>[]> rung_;
  alignas(kCacheLine) std::atomic<uint8_t> any_{0};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_DOORBELL_H
