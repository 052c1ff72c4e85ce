// SPDX-License-Identifier: BSD-3-Clause
// Doorbells: how a posting thread tells the engine that a queue has work, without a queue between.
//
// Two levels: a flag in the work queue, and one byte per group of 64 QP slots. A producer touches
// the byte only when it finds the flag clear, so a busy queue costs one locked instruction per post
// call, and none at all when poster and engine are the same thread.
#ifndef UROCE_ENGINE_DOORBELL_H
#define UROCE_ENGINE_DOORBELL_H

#include <atomic>
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
        rung_(std::make_unique<std::atomic<uint8_t>[]>(size_t{group_count_} * 64)) {}

  // Any posting thread, after it has published its WQEs.
  void ring(uint32_t qp_slot) {
    std::atomic<uint8_t>& flag = rung_[qp_slot];
    if (exclusive_) {
      if (flag.load(std::memory_order_relaxed) != 0) return;
      flag.store(1, std::memory_order_relaxed);
      groups_[qp_slot / 64].store(1, std::memory_order_relaxed);
      any_.store(1, std::memory_order_relaxed);
      return;
    }
    if (flag.exchange(1, std::memory_order_acq_rel) != 0) return;
    groups_[qp_slot / 64].store(1, std::memory_order_release);
    any_.store(1, std::memory_order_release);
  }

  // The engine: calls visit(qp_slot) for each bell that rang since the last call.
  template <typename Visit>
  void collect(Visit&& visit) {
    if (any_.load(std::memory_order_relaxed) == 0) return;
    clear(any_);
    for (uint32_t group = 0; group < group_count_; ++group) {
      if (groups_[group].load(std::memory_order_relaxed) == 0) continue;
      clear(groups_[group]);
      for (uint32_t slot = group * 64; slot < group * 64 + 64; ++slot) {
        if (rung_[slot].load(std::memory_order_relaxed) == 0) continue;
        clear(rung_[slot]);
        visit(slot);
      }
    }
  }

 private:
  // Clearing is an exchange: what a producer stored before its bell is visible after it.
  void clear(std::atomic<uint8_t>& flag) {
    if (exclusive_) {
      flag.store(0, std::memory_order_relaxed);
    } else {
      flag.exchange(0, std::memory_order_acq_rel);
    }
  }

  const bool exclusive_;
  const uint32_t group_count_;
  const std::unique_ptr<std::atomic<uint8_t>[]> groups_;
  const std::unique_ptr<std::atomic<uint8_t>[]> rung_;
  alignas(kCacheLine) std::atomic<uint8_t> any_{0};
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_DOORBELL_H
