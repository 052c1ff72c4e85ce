// SPDX-License-Identifier: BSD-3-Clause
// Round robin over the queue pairs that have something to send.
//
// Control frames go first: without ARP there is no traffic. Then the queue pair at the head of the
// transmit list has its turn: at most burst_per_qp packets, responses before requests, since a peer
// waits for them. When it has nothing more it leaves the list; when its turn is used up it goes to
// the end; when the slots run out it stays at the head and keeps the rest of its turn. Each packet
// costs the same, whatever its size: a burst is small against any link's delay.
#include "engine/tx_schedule.h"

#include <algorithm>

#include "transport/error_class.h"
#include "transport/requester.h"
#include "transport/responder.h"
#include "transport/uc.h"
#include "transport/ud.h"
#include "wire/ethernet.h"

namespace uroce::engine {
namespace {

using transport::QpContext;
using transport::QpState;
using transport::QpType;

enum class Emitted : uint8_t { kFrame, kNoFrame, kIdle };

Emitted emit_reliable(EngineState& engine, QpContext& qp, TxSlot& slot) {
  if (transport::response_ready(qp)) {
    return transport::emit_response(qp, engine.env, slot) ? Emitted::kFrame : Emitted::kNoFrame;
  }
  if (!transport::request_ready(qp, engine.env.now)) return Emitted::kIdle;
  return transport::emit_request(qp, engine.env, slot) ? Emitted::kFrame : Emitted::kNoFrame;
}

Emitted emit_unreliable(EngineState& engine, QpContext& qp, TxSlot& slot) {
  if (!transport::unreliable_ready(qp, engine.env.now)) return Emitted::kIdle;
  return transport::emit_unreliable(qp, engine.env, slot) ? Emitted::kFrame : Emitted::kNoFrame;
}

// The group that a frame of ours is addressed to.
Gid group_of(const TxSlot& slot) {
  const bool tagged = load_be16(slot.room + 12) == wire::kEthertypeVlan;
  const uint8_t* l3 = slot.room + wire::kEthernetBytes + (tagged ? wire::kVlanTagBytes : 0);
  if (l3[0] >> 4 == 4) return Gid::from_ipv4(load_be32(l3 + 16));
  Gid gid;
  std::copy_n(l3 + 24, gid.bytes.size(), gid.bytes.begin());
  return gid;
}

// A multicast packet comes back into this device when there is somebody to hear it: a member here,
// or in another engine.
Route multicast_route(EngineState& engine, const TxSlot& slot) {
  const Gid group = group_of(slot);
  if (engine.groups.find(group) != nullptr) return Route::kBoth;
  for (uint32_t i = 0; i < engine.shared.engine_count; ++i) {
    if (i != engine.config.index && engine.shared.groups->maybe(i, group)) return Route::kBoth;
  }
  return Route::kWire;
}

// Fills slots while the queue pair's turn lasts. `idle`: it has nothing more.
size_t emit_connected(EngineState& engine, QpContext& qp, std::span<TxSlot> slots, bool& idle) {
  const auto emit = qp.type == QpType::kUc ? emit_unreliable : emit_reliable;
  size_t filled = 0;
  while (filled < slots.size() && engine.turn_left > 0) {
    const Emitted emitted = emit(engine, qp, slots[filled]);
    idle = emitted == Emitted::kIdle;
    if (idle) break;
    filled += emitted == Emitted::kFrame ? 1 : 0;
    --engine.turn_left;
  }
  return filled;
}

size_t emit_datagrams(EngineState& engine, QpContext& qp, std::span<TxSlot> slots, bool& idle) {
  const size_t filled = transport::emit_datagrams(qp, engine.env, slots, engine.turn_left);
  for (TxSlot& slot : slots.first(filled)) {
    // Only a group's packets go both ways, and only if somebody is here to hear them.
    if (slot.route == Route::kBoth) slot.route = multicast_route(engine, slot);
  }
  idle = !transport::datagram_ready(qp);
  return filled;
}

// Gives the queue pair at the head of the list its turn. Returns how many slots it filled.
size_t run_turn(EngineState& engine, std::span<TxSlot> slots) {
  QpContext& qp = engine.transmit.front();
  bool idle = false;
  const size_t filled = is_connected(qp.type) ? emit_connected(engine, qp, slots, idle)
                                              : emit_datagrams(engine, qp, slots, idle);
  if (idle || engine.turn_left == 0) {
    engine.transmit.pop_front();
    engine.turn_left = engine.config.burst_per_qp;
  }
  settle(engine, qp);
  return filled;
}

void collect_doorbells(EngineState& engine) {
  engine.doorbells.collect([&](uint32_t slot) {
    QpContext& qp = engine.qps.at(slot);
    if (qp.queues == nullptr) return;
    if (qp.state == QpState::kErr || qp.state == QpState::kSqe) transport::flush(qp, engine.env);
    settle(engine, qp);
  });
}

}  // namespace

size_t schedule_frames(EngineState& engine, std::span<TxSlot> slots) {
  collect_doorbells(engine);
  size_t filled = 0;
  if (engine.host != nullptr) {
    while (filled < slots.size() && engine.host->poll_frame(engine.env.now, slots[filled])) {
      ++filled;
    }
  }
  // A turn that fills nothing has completed work requests in error, so turns end; the limit is for
  // many queue pairs that fail at once, the rest of which wait for the next call.
  size_t empty_turns = 0;
  while (filled < slots.size() && !engine.transmit.empty() && empty_turns < 64) {
    const size_t sent = run_turn(engine, slots.subspan(filled));
    filled += sent;
    empty_turns += sent == 0 ? 1 : 0;
  }
  return filled;
}

}  // namespace uroce::engine
