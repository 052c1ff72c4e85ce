// SPDX-License-Identifier: BSD-3-Clause
// Staged dispatch: a burst goes through in passes, so that the memory of one frame is fetched while
// another is worked on.
//
//   decode    every frame: kind, headers, lengths; is it for us; address and QPN of one kind; fetch
//             the context or the group's first members. Control frames end here.
//   locate    every packet: queue pair or group; fetch the queues.
//   verify    every packet that has found one: ICRC. By themselves, one after the other, the long
//             chains of dependent instructions overlap.
//   execute   every packet, in order of arrival: admission, transport.
//   settle    every queue pair that was touched.
//
// Nothing that a peer or the application can see happens before the ICRC is known to be good; what
// comes before it only counts drops. A frame that another engine handed over was verified there.
#include "engine/dispatch.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/admit.h"
#include "engine/fan_out.h"
#include "transport/completer.h"
#include "transport/responder.h"
#include "transport/uc.h"
#include "transport/ud.h"
#include "wire/icrc.h"
#include "wire/parse_plain.h"

namespace uroce::engine {
namespace {

using transport::QpContext;
using transport::QpType;
using wire::Drop;
using wire::FrameKind;

constexpr size_t kFramesAhead = 3;  // whose bytes are fetched before they are looked at

static_assert(static_cast<int>(ChecksumVerdict::kIgnore) ==
              static_cast<int>(wire::ChecksumVerdict::kIgnore));

wire::ParseOptions options_of(const EngineConfig& config, const RxFrame& frame) {
  return {.vlan_id = config.vlan_id,
          .vlan_stripped = frame.vlan_stripped,
          .vlan_tci = frame.vlan_tci,
          .ip_checksum = static_cast<wire::ChecksumVerdict>(frame.ip_checksum),
          .udp_checksum = static_cast<wire::ChecksumVerdict>(frame.udp_checksum)};
}

void hand_off(EngineState& engine, const RxFrame& frame, uint32_t to, bool icrc_good) {
  HandoffRing& ring = engine.handoffs;
  if (ring.tail - ring.head == ring.size) return engine.drops.count(Drop::kHandoffFull);
  ring.entries[ring.tail++ & (ring.size - 1)] = {frame.token, to, icrc_good, frame.receive_time()};
  ++engine.counters.handed_off;
}

// --- decode ---

void decode_control(EngineState& engine, const RxFrame& frame, const wire::L3Info& info,
                    const wire::ParseOptions& options) {
  if (!engine.config.own_port) return engine.drops.count(info.not_roce);
  if (engine.host == nullptr) return hand_off(engine, frame, 0, false);
  engine.host->receive(engine.env.now, {frame.bytes, frame.length}, info, options);
}

Drop check_destination(const EngineState& engine, const wire::ParsedFrame& parsed) {
  const bool group_address = parsed.destination_is_multicast();
  if (!group_address && !engine.addresses.is_destination_of(parsed)) return Drop::kNotForUs;
  if (group_address != (parsed.dest_qpn == kMulticastQpn)) return Drop::kGroupQpnMismatch;
  return Drop::kNone;
}

// Anything but a RoCE packet is dealt with at once. False: nothing to go on with.
bool decode_unusual(EngineState& engine, const RxFrame& frame, const wire::ParseOptions& options,
                    wire::ParsedFrame& parsed) {
  const std::span<const uint8_t> bytes(frame.bytes, frame.length);
  wire::L3Info info;
  Drop drop = Drop::kNone;
  switch (wire::classify(bytes, options, info)) {
    case FrameKind::kRoce:
      drop = wire::parse_roce(bytes, info, options, parsed);
      break;
    case FrameKind::kOther:
      drop = info.not_roce;
      break;
    default:
      decode_control(engine, frame, info, options);
      return false;
  }
  if (drop != Drop::kNone) engine.drops.count(drop);
  return drop == Drop::kNone;
}

// True when `packet` is to go on to the next pass.
bool decode(EngineState& engine, const RxFrame& frame, Packet& packet) {
  const std::span<const uint8_t> bytes(frame.bytes, frame.length);
  const wire::ParseOptions options = options_of(engine.config, frame);
  Drop drop = engine.filter.judge(frame);
  if (drop == Drop::kNone) {
    if (wire::is_plain_roce(bytes, options)) [[likely]] {
      drop = wire::parse_plain_roce(bytes, options, packet.parsed);
    } else if (!decode_unusual(engine, frame, options, packet.parsed)) {
      return false;
    }
  }
  if (drop == Drop::kNone) drop = check_destination(engine, packet.parsed);
  if (drop != Drop::kNone) [[unlikely]] {
    engine.drops.count(drop);
    return false;
  }
  packet.frame = &frame;
  packet.multicast = packet.parsed.dest_qpn == kMulticastQpn;
  if (!packet.multicast && engine.qps.owns(packet.parsed.dest_qpn)) {
    engine.qps.prefetch(packet.parsed.dest_qpn);
  }
  return true;
}

// --- locate ---

void locate(EngineState& engine, Packet& packet) {
  packet.qp = nullptr;
  packet.group = nullptr;
  if (packet.multicast) {
    packet.group = engine.groups.find(packet.parsed.destination());
    if (packet.group != nullptr) {
      engine.qps.prefetch_slot(engine.groups.first(*packet.group)->member);
    }
    return;
  }
  packet.qp = engine.qps.find(packet.parsed.dest_qpn);
  if (packet.qp == nullptr) return;
  const transport::QpQueues* queues = packet.qp->queues;
  __builtin_prefetch(&queues->recv);
  __builtin_prefetch(&queues->recv.producer);
}

// --- verify ---

void verify(Packet& packet) {
  packet.icrc_good = packet.frame->icrc_good || wire::icrc_ok(packet.parsed);
}

// --- execute ---

// Counts the packet or its drop.
bool accept(EngineState& engine, const Packet& packet) {
  if (!packet.icrc_good) [[unlikely]] {
    engine.drops.count(Drop::kIcrc);
    return false;
  }
  ++engine.counters.received_packets;
  return true;
}

// Whether any other engine has members; if so and `send`, each of these is handed the frame.
bool others_have_members(EngineState& engine, const Packet& packet, bool send) {
  if (engine.shared.engine_count == 1) return false;
  const Gid group = packet.parsed.destination();
  bool any = false;
  for (uint32_t other = 0; other < engine.shared.engine_count; ++other) {
    if (other == engine.config.index || !engine.shared.groups->maybe(other, group)) continue;
    any = true;
    if (send) hand_off(engine, *packet.frame, other, true);
  }
  return any;
}

void execute_multicast(EngineState& engine, Packet& packet) {
  const RxFrame& frame = *packet.frame;
  if (!packet.parsed.info->has(wire::kUd)) return engine.drops.count(Drop::kQpType);
  // A frame from another engine is a copy on offer, which goes no further.
  const bool from_other_engine = frame.icrc_good;
  const bool offer = !from_other_engine && others_have_members(engine, packet, false);
  if (packet.group == nullptr && !offer) {
    return engine.drops.count(from_other_engine ? Drop::kGroupOffer : Drop::kGroupUnknown);
  }
  if (packet.group == nullptr) verify(packet);
  if (!accept(engine, packet)) return;
  if (offer) others_have_members(engine, packet, true);
  if (packet.group != nullptr) fan_out(engine, *packet.group, frame, packet.parsed);
}

void deliver(EngineState& engine, QpContext& qp, const Packet& packet) {
  const wire::OpcodeInfo& opcode = *packet.parsed.info;
  if (qp.type == QpType::kUc) {
    transport::receive_unreliable(qp, engine.env, packet.parsed, packet.frame->receive_time());
  } else if (!is_reliable(qp.type)) {
    transport::receive_datagram(qp, engine.env, packet.parsed, packet.frame->receive_time());
  } else if (opcode.has(wire::kResponse)) {
    transport::receive_response(qp, engine.env, packet.parsed);
  } else {
    transport::receive_request(qp, engine.env, packet.parsed, packet.frame->receive_time());
  }
}

// For a queue pair that is not here: another engine's, or nobody's.
void execute_stranger(EngineState& engine, const Packet& packet) {
  const uint32_t owner = engine.qps.layout().engine_of(packet.parsed.dest_qpn);
  if (owner != engine.config.index && owner < engine.shared.engine_count) {
    return hand_off(engine, *packet.frame, owner, packet.frame->icrc_good);
  }
  const bool cnp = packet.parsed.info->has(wire::kCnpOp);
  engine.drops.count(cnp ? Drop::kCnpUnknownQp : Drop::kQpnUnknown);
}

// Returns the queue pair that was touched, or nullptr.
QpContext* execute_unicast(EngineState& engine, const Packet& packet) {
  if (packet.qp == nullptr) [[unlikely]] {
    execute_stranger(engine, packet);
    return nullptr;
  }
  if (!accept(engine, packet)) return nullptr;
  if (packet.parsed.info->has(wire::kCnpOp)) [[unlikely]] {
    // Nobody here slows down on a congestion notification: a good one changes nothing.
    ++engine.counters.cnp_received;
    return nullptr;
  }
  const Drop refusal = admit(*packet.qp, packet.parsed);
  if (refusal != Drop::kNone) [[unlikely]] {
    if (refusal == Drop::kPkey) ++packet.qp->pkey_violations;
    engine.drops.count(refusal);
    return nullptr;
  }
  deliver(engine, *packet.qp, packet);
  return packet.qp;
}

void fetch_bytes(std::span<const RxFrame> frames, size_t index) {
  if (index >= frames.size() || frames[index].length == 0) return;
  __builtin_prefetch(frames[index].bytes);
  __builtin_prefetch(frames[index].bytes + 64);
}

void dispatch_stage(EngineState& engine, std::span<const RxFrame> frames) {
  Stage& packets = engine.stage;
  size_t count = 0;
  for (size_t i = 0; i < kFramesAhead; ++i) fetch_bytes(frames, i);
  for (size_t i = 0; i < frames.size(); ++i) {
    fetch_bytes(frames, i + kFramesAhead);
    count += decode(engine, frames[i], packets[count]) ? 1 : 0;
  }
  for (size_t i = 0; i < count; ++i) locate(engine, packets[i]);
  for (size_t i = 0; i < count; ++i) {
    if (packets[i].qp != nullptr || packets[i].group != nullptr) verify(packets[i]);
  }

  std::array<QpContext*, kStage> touched;
  size_t touched_count = 0;
  for (size_t i = 0; i < count; ++i) {
    if (packets[i].multicast) {
      execute_multicast(engine, packets[i]);
      continue;
    }
    QpContext* qp = execute_unicast(engine, packets[i]);
    if (qp == nullptr || (touched_count > 0 && touched[touched_count - 1] == qp)) continue;
    touched[touched_count++] = qp;
  }
  for (size_t i = 0; i < touched_count; ++i) settle(engine, *touched[i]);
}

}  // namespace

void dispatch_frames(EngineState& engine, std::span<const RxFrame> frames) {
  while (!frames.empty()) {
    const size_t count = std::min(frames.size(), kStage);
    dispatch_stage(engine, frames.first(count));
    frames = frames.subspan(count);
  }
}

}  // namespace uroce::engine
