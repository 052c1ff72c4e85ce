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
  if (req.ahead(req.next_psn) < req.outstanding()) ++counters.retransmitted_packets;
  if (req.next_index == req.begun_index) {
    ++req.begun_index;
    if (completes_by_response(wqe.opcode)) ++req.reads_outstanding;
  }
  req.next_psn = req.next_psn + packet.psns;
  if (req.ahead(req.next_psn) > req.outstanding()) req.max_psn = req.next_psn;
  if (packet.ends_message) {
    ++req.next_index;
    req.next_packet = 0;
  } else {
    ++req.next_packet;
  }
  if (!packet.ack_request) {
    ++req.packets_since_ack_request;
    return;
  }
  req.packets_since_ack_request = 0;
  if (req.ack_deadline == kNever) arm_ack_timer(qp, env.now);
}

// A request without payload: READ, atomic or FLUSH.
bool emit_bare(QpContext& qp, TransportEnv& env, TxSlot& slot, const SendWqe& wqe,
               const SendProgress& progress) {
  RequesterState& req = qp.req;
  const Opcode opcode = bare_opcode(wqe.opcode);
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
  const bool fills_window = req.ahead(req.next_psn) + 1 >= kUnackedPsnsMax;
  packet.ack_request =
      packet.ends_message || fills_window || req.packets_since_ack_request >= kAckRequestPeriod;
  finish_request_packet(qp, env, wqe, packet, req.next_packet, slot);
  advance(qp, env, wqe, packet);
  return true;
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
  if (req.held_status != WcStatus::kSuccess) return false;
  if (req.keys_until != kNever && now < req.keys_until) return false;
  if (req.ahead(req.next_psn) >= kUnackedPsnsMax) return false;
  if (req.next_index != req.begun_index) return true;  // once more, or the rest of a message
  return may_begin(qp);
}

bool emit_request(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  if (!request_ready(qp, env.now)) return false;
  RequesterState& req = qp.req;
  req.rnr_until = kNever;
  const SendQueue& send = qp.queues->send;
  const SendWqe& wqe = send.wqe(req.next_index);
  if (is_local_operation(wqe.opcode)) {
    pass_local_operation(qp, env);
    return false;
  }
  SendProgress& progress = qp.queues->progress[req.next_index & send.mask];
  if (req.next_index == req.begun_index) {
    if (!sendable(qp, wqe)) {
      refuse_request(qp, env, WcStatus::kLocQpOpErr);
      return false;
    }
    progress = {req.next_psn, packets_of(wqe, qp.mtu_bytes)};
  }
  if (!carries_payload(wqe.opcode)) return emit_bare(qp, env, slot, wqe, progress);
  return emit_message(qp, env, slot, wqe);
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

void raise_if_drained(QpContext& qp, TransportEnv& env) {
  if (qp.state != QpState::kSqd || !qp.attributes.sq_draining) return;
  // Datagrams are complete when they are sent.
  const bool datagrams = qp.type == QpType::kUd || qp.type == QpType::kGsi;
  const uint32_t oldest = qp.queues->send.consumer.load(std::memory_order_relaxed);
  if (!datagrams && oldest != qp.req.begun_index) return;
  qp.attributes.sq_draining = false;
  if (qp.attributes.sqd_async_notify) env.raise(EventType::kSqDrained, qp.user);
}

}  // namespace uroce::transport
