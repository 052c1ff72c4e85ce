// SPDX-License-Identifier: BSD-3-Clause
// Everything that one engine owns, as data: the parts that dispatch, schedule and commands share.
//
// All memory is allocated by the constructor.
#ifndef UROCE_ENGINE_ENGINE_STATE_H
#define UROCE_ENGINE_ENGINE_STATE_H

#include <cstdint>
#include <memory>

#include "engine/armed_timeouts.h"
#include "engine/engine.h"
#include "engine/host_side.h"
#include "engine/local_addresses.h"
#include "engine/packet.h"
#include "engine/port_filter.h"
#include "engine/qp_table.h"
#include "engine/timer_wheel.h"
#include "engine/transmit_list.h"
#include "group/membership.h"
#include "transport/reorder.h"
#include "transport/transport_env.h"

namespace uroce::engine {

// Frames that other engines must see, between handle_frames and poll_handoff: a bounded ring, and
// one without room when there are no others.
struct HandoffRing {
  explicit HandoffRing(uint32_t engines)
      : size(engines == 1 ? 0 : 4096), entries(std::make_unique<Handoff[]>(size)) {}
  const uint32_t size;  // a power of two, or 0
  const std::unique_ptr<Handoff[]> entries;
  uint32_t head = 0;
  uint32_t tail = 0;
};

struct EngineState {
  explicit EngineState(const EngineConfig& engine_config);
  EngineState(const EngineState&) = delete;
  EngineState& operator=(const EngineState&) = delete;

  const EngineConfig config;
  DeviceShared& shared;
  transport::DropCounters drops;
  transport::TransportCounters counters;
  std::unique_ptr<transport::ReorderBuffer> reorder;  // nullptr: early packets are dropped
  transport::TransportEnv env;

  QpTable qps;
  group::MembershipTable groups;  // members are QP slots
  TimerWheel timers;
  ArmedTimeouts timeouts;
  Doorbells doorbells;
  const PortFilter filter;
  LocalAddresses addresses;
  Stage stage;
  HandoffRing handoffs;

  TransmitList transmit;
  uint32_t turn_left;  // packets that the queue pair at the head of `transmit` may still send

  // ARP, ND, echo, IGMP and MLD: only in engine 0 of an own port.
  std::unique_ptr<HostSide> host;
  Command* waiting = nullptr;    // ResolveCommands without an answer yet
  Command* parting = nullptr;    // DestroyQpCommands whose queue pairs owe a response
  Command* held_back = nullptr;  // DestroyQpCommands behind completions that are held back
};

// Brings the engine's lists into line with a queue pair that an input has touched: on the transmit
// list if it has output, its timer no later than its next deadline.
void settle(EngineState& engine, transport::QpContext& qp);

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_ENGINE_STATE_H
