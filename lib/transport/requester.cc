// SPDX-License-Identifier: BSD-3-Clause
// The RC requester: segmentation, PSNs, AckReq, the limits that hold packets back, and the cursor.
//
// One packet per call, from the WQE at the cursor. A message of n packets takes n PSNs, a READ
// request as many as its response has packets. After a retry the same code runs again from where
// the cursor was put: a packet's opcode, headers and payload follow from its place in the message
// alone, so the second copy differs from the first in nothing but IP identification and AckReq.
//
// A WQE that cannot be sent (bad L_Key) fails only when all before it are complete: until then the
// requester is held at it. A retry meanwhile lifts the hold; it is found again.
#include "transport/requester.h"

#include "transport/error_class.h"
#include "transport/local_operation.h"
#include "transport/request_packet.h"
#include "transport/retry.h"
#include "transport/tail_probe.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

// A duplicate is told from a gap by half of the PSN space.
constexpr uint32_t kOutstandingPsnsMax = 1u << 23;

// Whether the WQE at the cursor, of which nothing was sent yet, may begin.
bool may_begin(QpContext& qp) {
  const RequesterState& req = qp.req;
  SendQueue& send = qp.queues->send;
  if (qp.state != QpState::kRts || !send.posted(req.next_index)) return false;
  const SendWqe& wqe = send.wqe(req.next_index);
  if ((wqe.flags & kSendFence) != 0 && req.reads_outstanding != 0) return false;
  if (is_local_operation(wqe.opcode)) return local_operation_ready(qp, wqe);
  if (!completes_by_response(wqe.opcode)) return true;
  if (qp.attributes.rd_atomic_max == 0) return true;  // to be refused
  return req.reads_outstanding < qp.attributes.rd_atomic_max &&
         req.ahead(req.next_psn) + packets_of(wqe, qp.mtu_bytes) <= kOutstandingPsnsMax;
}

// Moves the cursor behind the packet that was put out.
void advance(QpContext& qp, TransportEnv& env, const SendWqe& wqe, const RequestPacket& packet) {
  RequesterState& req = qp.req;
  TransportCounters& counters = *env.counters;
  ++counters.sent_packets;
  counters.sent_bytes.add(packet.payload_bytes);
  ++env.ip_id;
  const bool again = req.ahead(req.next_psn) < req.outstanding();
  if (again) ++counters.retransmitted_packets;
  if (req.next_index == req.begun_index) {
    ++req.begun_index;
    if (completes_by_response(wqe.opcode)) ++req.reads_outstanding;
  }
  const Psn psn = req.next_psn;
  req.next_psn = psn + packet.psns;
  if (req.ahead(req.next_psn) > req.outstanding()) req.max_psn = req.next_psn;
  if (packet.ends_message) {
    ++req.next_index;
    req.next_packet = 0;
  } else {
    ++req.next_packet;
  }
  // Until the round trip is known at all, a packet that does not ask is timed as well: on a lossy
  // link every sample of a packet that asks, one in 65, might be given up before its answer.
  if (!again && req.sample_sent == kNever && (packet.ack_request || req.srtt_ns == 0)) {
    req.sample_sent = env.now;
    req.sample_psn = psn;
  }
  if (!packet.ack_request) {
    ++req.packets_since_ack_request;
    return;
  }
  req.packets_since_ack_request = 0;
  if (req.ack_deadline == kNever) arm_ack_timer(qp, env.now);
  if (req.probe_deadline == kNever) req.probe_deadline = probe_time(req, env.now);
  if (!again) req.asked_psn = req.next_psn - 1;
}

// A request without payload: READ, atomic or FLUSH.
bool emit_bare(QpContext& qp, TransportEnv& env, TxSlot& slot, const SendWqe& wqe,
               const SendProgress& progress) {
  RequesterState& req = qp.req;
  const Opcode opcode = bare_opcode(qp.type, wqe.opcode);
  request_room(qp, slot, opcode, 0);
  const RequestPacket packet{opcode, 0, progress.packet_count - req.next_packet, true, false, true};
  finish_request_packet(qp, env, wqe, packet, req.next_packet, slot);
  if (req.next_packet != 0) req.read_asked_psn = req.next_psn;
  advance(qp, env, wqe, packet);
  return true;
}

// A packet of a SEND or WRITE, or an ATOMIC WRITE.
bool emit_message(QpContext& qp, TransportEnv& env, TxSlot& slot, const SendWqe& wqe) {
  const RequesterState& req = qp.req;
  RequestPacket packet = message_packet(qp, wqe, req.next_packet);
  uint8_t* bth = request_room(qp, slot, packet.opcode, packet.payload_bytes);
  uint8_t* payload = bth + wire::opcode_info(packet.opcode).header_bytes;
  if (!copy_payload(qp, env, wqe, req.next_packet * qp.mtu_bytes, payload, packet.payload_bytes)) {
    refuse_request(qp, env, WcStatus::kLocProtErr);
    return false;
  }
  const bool fills_window = req.ahead(req.next_psn) + 1 >= req.window;
  packet.ack_request =
      packet.ends_message || fills_window || req.packets_since_ack_request >= kAckRequestPeriod;
  finish_request_packet(qp, env, wqe, packet, req.next_packet, slot);
  advance(qp, env, wqe, packet);
  return true;
}

// The packet at the cursor, which belongs to a WQE that has begun.
bool emit_at_cursor(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  const RequesterState& req = qp.req;
  const SendQueue& send = qp.queues->send;
  const SendWqe& wqe = send.wqe(req.next_index);
  if (carries_payload(wqe.opcode)) return emit_message(qp, env, slot, wqe);
  return emit_bare(qp, env, slot, wqe, qp.queues->progress[req.next_index & send.mask]);
}

// Puts the cursor on the newest packet that was sent; a READ or atomic is asked for as a whole.
// False: that is the oldest one, too.
bool go_to_newest(QpContext& qp) {
  RequesterState& req = qp.req;
  const SendQueue& send = qp.queues->send;
  const SendProgress* progress = qp.queues->progress;
  const uint32_t oldest = send.consumer.load(std::memory_order_relaxed);
  uint32_t index = req.begun_index - 1;
  while (index != oldest && progress[index & send.mask].packet_count == 0) --index;
  const Psn first = progress[index & send.mask].first_psn;
  const bool whole = completes_by_response(send.wqe(index).opcode);
  req.next_index = index;
  req.next_packet = whole ? 0 : (req.max_psn - first.value()).value() - 1;
  req.next_psn = first + req.next_packet;
  return index != oldest || (!whole && req.next_psn != req.unacked_psn);
}

// A repair or a probe: the cursor goes to that packet, which asks for an ACK, and comes back.
bool emit_out_of_turn(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  RequesterState& req = qp.req;
  const uint32_t index = req.next_index;
  const uint32_t packet = req.next_packet;
  const Psn psn = req.next_psn;
  const WcStatus held = req.held_status;
  bool there = true;
  if ((req.out_of_turn & kOldestPacket) != 0) {
    req.out_of_turn &= static_cast<uint8_t>(~kOldestPacket);
    go_back(qp);
  } else {
    req.out_of_turn = 0;
    there = go_to_newest(qp);
  }
  req.packets_since_ack_request = kAckRequestPeriod;
  const bool sent = there && emit_at_cursor(qp, env, slot);
  if (qp.state == QpState::kErr) return false;  // its buffer is gone
  req.next_index = index;
  req.next_packet = packet;
  req.next_psn = psn;
  req.held_status = held;
  return sent;
}

// Requests that no peer could answer or no code here could send; the poster refuses most of them.
bool sendable(const QpContext& qp, const SendWqe& wqe) {
  if (completes_by_response(wqe.opcode)) return qp.attributes.rd_atomic_max != 0;
  return wqe.opcode < WrOpcode::kRdmaRead || wqe.opcode == WrOpcode::kSendWithInvalidate;
}

}  // namespace

void refuse_request(QpContext& qp, TransportEnv& env, WcStatus status) {
  if (qp.req.next_index == qp.queues->send.consumer.load(std::memory_order_relaxed)) {
    fail_send(qp, env, status);
  } else {
    qp.req.held_status = status;
  }
}

bool request_ready(QpContext& qp, Time now) {
  const RequesterState& req = qp.req;
  if (qp.state != QpState::kRts && qp.state != QpState::kSqd) return false;
  if (req.rnr_until != kNever && now < req.rnr_until) return false;
  if (req.out_of_turn != 0) [[unlikely]]
    return true;
  if (req.held_status != WcStatus::kSuccess) return false;
  if (req.keys_until != kNever && now < req.keys_until) return false;
  if (req.ahead(req.next_psn) >= req.window) return false;
  if (req.next_index != req.begun_index) return true;  // once more, or the rest of a message
  return may_begin(qp);
}

bool emit_request(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  if (!request_ready(qp, env.now)) return false;
  RequesterState& req = qp.req;
  req.rnr_until = kNever;
  if (req.out_of_turn != 0) [[unlikely]]
    return emit_out_of_turn(qp, env, slot);
  const SendQueue& send = qp.queues->send;
  const SendWqe& wqe = send.wqe(req.next_index);
  if (is_local_operation(wqe.opcode)) {
    pass_local_operation(qp, env);
    return false;
  }
  if (req.next_index == req.begun_index) {
    if (!sendable(qp, wqe)) {
      refuse_request(qp, env, WcStatus::kLocQpOpErr);
      return false;
    }
    qp.queues->progress[req.next_index & send.mask] = {req.next_psn, packets_of(wqe, qp.mtu_bytes)};
  }
  return emit_at_cursor(qp, env, slot);
}

void go_back(QpContext& qp) {
  RequesterState& req = qp.req;
  const SendQueue& send = qp.queues->send;
  req.next_index = send.consumer.load(std::memory_order_relaxed);
  req.next_psn = req.unacked_psn;
  req.next_packet = 0;
  if (req.next_index != req.begun_index) {
    const Psn first = qp.queues->progress[req.next_index & send.mask].first_psn;
    req.next_packet = (req.unacked_psn - first.value()).value();
  }
  req.packets_since_ack_request = 0;
  req.held_status = WcStatus::kSuccess;
}

void go_forward(QpContext& qp) {
  RequesterState& req = qp.req;
  const SendQueue& send = qp.queues->send;
  req.next_psn = req.max_psn;
  req.next_index = req.begun_index;
  req.next_packet = 0;
  req.held_status = WcStatus::kSuccess;
  if (req.begun_index == send.consumer.load(std::memory_order_relaxed)) return;
  const SendProgress& newest = qp.queues->progress[(req.begun_index - 1) & send.mask];
  const uint32_t sent = (req.max_psn - newest.first_psn.value()).value();
  if (sent < newest.packet_count) {
    --req.next_index;
    req.next_packet = sent;
  }
}

void raise_if_drained(QpContext& qp, TransportEnv& env) {
  if (qp.state != QpState::kSqd || !qp.attributes.sq_draining) return;
  // Datagrams are complete when they are sent.
  const bool datagrams = qp.type == QpType::kUd || qp.type == QpType::kGsi;
  const uint32_t oldest = qp.queues->send.consumer.load(std::memory_order_relaxed);
  if (!datagrams && oldest != qp.req.begun_index) return;
  qp.attributes.sq_draining = false;
  if (qp.attributes.sqd_async_notify) env.raise(qp.events, EventType::kSqDrained, qp.user);
}

}  // namespace uroce::transport
