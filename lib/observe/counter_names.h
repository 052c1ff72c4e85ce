// SPDX-License-Identifier: BSD-3-Clause
// All counters of a device in one list: name, explanation and the sum over its engines.
#ifndef UROCE_OBSERVE_COUNTER_NAMES_H
#define UROCE_OBSERVE_COUNTER_NAMES_H

#include <cstdint>
#include <vector>

#include "engine/host_side.h"
#include "nic/fault_stage.h"
#include "nic/queue.h"
#include "transport/transport_counters.h"
#include "transport/transport_env.h"
#include "worker/loop.h"

namespace uroce::observe {

// Where a device's counters are: one entry for each engine (faults: only where there are some).
struct CounterSources {
  std::vector<const transport::TransportCounters*> transport;
  std::vector<const transport::DropCounters*> drops;
  std::vector<const nic::QueueCounters*> queues;
  std::vector<const nic::FaultCounters*> faults;
  std::vector<const worker::LoopCounters*> loops;
  // Of an own port, all or none.
  const neigh::HostStackCounters* host_stack = nullptr;
  const group::HostCounters* igmp = nullptr;
  const group::HostCounters* mld = nullptr;
};

enum class CounterGroup : uint8_t { kTransport, kDrop, kPort, kLoop, kHost };

struct NamedCounter {
  CounterGroup group;
  const char* name;  // static
  const char* help;  // static, one line
  uint64_t value;
};

// Every counter, also those that are 0, in a fixed order. A frame that the port's queue refused is
// counted under its drop reason like all others. Any thread.
std::vector<NamedCounter> list_counters(const CounterSources& sources);

}  // namespace uroce::observe

#endif  // UROCE_OBSERVE_COUNTER_NAMES_H
