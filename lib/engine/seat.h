// SPDX-License-Identifier: BSD-3-Clause
// The place where an engine is driven from: its baton, its mailbox and its epoch slot.
//
// Worker mode: one lcore holds the engine for ever; control calls go through the mailbox. Inline
// exclusive: one application thread does everything, so a control call is executed in place.
// Inline shared: whoever takes the baton with one try runs the whole loop or executes its command.
#ifndef UROCE_ENGINE_SEAT_H
#define UROCE_ENGINE_SEAT_H

#include <atomic>
#include <cstdint>

#include "base/epoch.h"
#include "base/spsc_ring.h"
#include "engine/engine.h"

namespace uroce::engine {

enum class DriveMode : uint8_t { kWorker, kInlineExclusive, kInlineShared };

class EngineSeat {
 public:
  EngineSeat(const EngineConfig& config, DriveMode mode) : mode_(mode), engine_(config) {
    DeviceShared& shared = *config.shared;
    shared.epochs.resize(shared.engine_count);
    shared.epochs[config.index] = &epoch_;
  }

  Engine& engine() { return engine_; }
  DriveMode mode() const { return mode_; }
  EpochSlot& epoch() { return epoch_; }

  // Inline shared. The holder runs a turn or a command and gives it back.
  bool try_take() {
    if (held_.exchange(true, std::memory_order_acquire)) return false;
    holder_.store(this_thread(), std::memory_order_relaxed);
    return true;
  }
  void give_back() {
    holder_.store(nullptr, std::memory_order_relaxed);
    held_.store(false, std::memory_order_release);
  }
  // A control call from a handler that the holder runs inside its turn: executed in place.
  bool held_by_caller() const { return holder_.load(std::memory_order_relaxed) == this_thread(); }

  // Worker mode: control threads push (one at a time: the device's lock), the worker pops.
  SpscRing<Command*>& mailbox() { return mailbox_; }

 private:
  static const void* this_thread() {
    static thread_local char mark;
    return &mark;
  }

  const DriveMode mode_;
  std::atomic<bool> held_{false};
  std::atomic<const void*> holder_{nullptr};
  EpochSlot epoch_;
  SpscRing<Command*> mailbox_{64};
  Engine engine_;
};

// How a control thread reaches the clock and, inline, the loop. Given to the device by whoever
// built the engines: lib/worker in the product, the simulator in tests.
struct EngineDriver {
  // The time that engines are driven with.
  Time (*now)(void* context) = nullptr;
  // Inline modes: runs one loop turn of engine `index` if the calling thread may; the simulator
  // advances its clock instead. Called while a control call waits for a command.
  void (*turn)(void* context, uint32_t index) = nullptr;
  void* context = nullptr;
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_SEAT_H
