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
#include "transport/event_list.h"
#include "transport/transport_counters.h"
#include "transport/xrc_queue_table.h"
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
  XrcQueueTable xrc_queues;

  CompletionQueue* dirty = nullptr;  // CQs with entries to publish, linked by their lanes

  // CQs whose event is held back by their moderation; at most one entry per CQ.
  static constexpr uint32_t kHeldMax = 256;
  std::array<CompletionQueue*, kHeldMax> held{};
  uint32_t held_count = 0;
  Time held_deadline = kNever;  // no later than the first of them is due

  // For Engine::poll_event.
  EventList events;
  void raise(EventSource& source, EventType type, void* object) {
    events.raise(source, type, object);
  }
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_TRANSPORT_ENV_H
