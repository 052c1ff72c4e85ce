// SPDX-License-Identifier: BSD-3-Clause
// What a queue pair's code may use of its engine: the time, the keys, the counters, the lists that
// collect output. One per engine; pointers are set at construction and, unless it is said, not
// null.
#ifndef UROCE_TRANSPORT_TRANSPORT_ENV_H
#define UROCE_TRANSPORT_TRANSPORT_ENV_H

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "base/grace_rounds.h"
#include "base/types.h"
#include "memory/key_table.h"
#include "transport/completion_queue.h"
#include "transport/event.h"
#include "transport/transport_counters.h"
#include "wire/drop.h"

namespace uroce::transport {

// A drop counter for each reason.
struct DropCounters {
  std::array<Counter, static_cast<size_t>(wire::Drop::kCount)> by_reason;
  void count(wire::Drop reason) { ++by_reason[static_cast<size_t>(reason)]; }
};

class ReorderBuffer;

struct TransportEnv {
  Time now{};                 // of the input being handled
  uint32_t engine_index = 0;  // selects the CQ lane
  uint16_t ip_id = 0;         // running IPv4 identification of this engine
  memory::KeyTable* keys = nullptr;
  GraceRounds grace;  // of the device's other engines
  DropCounters* drops = nullptr;
  TransportCounters* counters = nullptr;
  ReorderBuffer* reorder = nullptr;  // nullptr: a packet that comes too early is dropped
  bool selective_repeat = true;      // false: every NAK is answered with plain go-back-N
  bool tail_probe = true;            // false: only the ACK timer notices what no NAK names

  // CQs with entries to publish; at most one entry per CQ.
  static constexpr uint32_t kDirtyMax = 256;
  std::array<CompletionQueue*, kDirtyMax> dirty{};
  uint32_t dirty_count = 0;

  // Bounded ring of events for Engine::poll_event. When it is full the oldest duplicate kind is
  // dropped with a counter (events_lost): CQ notifications are re-raised by re-arming.
  static constexpr uint32_t kEventsMax = 1024;
  std::array<Event, kEventsMax> events{};
  uint32_t event_head = 0;
  uint32_t event_tail = 0;
  void raise(EventType type, void* object) { raise(Event{type, object}); }
  void raise(const Event& event) {
    if (event_tail - event_head == kEventsMax) {
      ++counters->events_lost;
      return;
    }
    events[event_tail++ % kEventsMax] = event;
  }
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_TRANSPORT_ENV_H
