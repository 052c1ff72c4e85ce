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

#include <algorithm>

#include "base/assert.h"
#include "memory/gather.h"
#include "transport/error_class.h"
#include "transport/retry.h"
#include "wire/emit.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace uroce::transport {
namespace {

using wire::Opcode;

// A duplicate is told from a gap by half of the PSN space.
constexpr uint32_t kOutstandingPsnsMax = 1u << 23;

// By work request opcode, then place in the message: bit 0 first, bit 1 last.
constexpr Opcode kOpcodes[4][4] = {
    {Opcode::kRcWriteMiddle, Opcode::kRcWriteFirst, Opcode::kRcWriteLast, Opcode::kRcWriteOnly},
    {Opcode::kRcWriteMiddle, Opcode::kRcWriteFirst, Opcode::kRcWriteLastImmediate,
     Opcode::kRcWriteOnlyImmediate},
    {Opcode::kRcSendMiddle, Opcode::kRcSendFirst, Opcode::kRcSendLast, Opcode::kRcSendOnly},
    {Opcode::kRcSendMiddle, Opcode::kRcSendFirst, Opcode::kRcSendLastImmediate,
     Opcode::kRcSendOnlyImmediate},
};

// PSNs that a message of this length takes; the MTU is a power of two.
uint32_t packets_of(uint32_t length, uint32_t mtu_bytes) {
  if (length <= mtu_bytes) return 1;
  return ((length - 1) >> __builtin_ctz(mtu_bytes)) + 1;
}

// Whether the WQE at the cursor, of which nothing was sent yet, may begin.
bool may_begin(QpContext& qp) {
  const RequesterState& req = qp.req;
  SendQueue& send = qp.queues->send;
  if (qp.state != QpState::kRts || !send.posted(req.next_index)) return false;
  const SendWqe& wqe = send.wqe(req.next_index);
  if ((wqe.flags & kSendFence) != 0 && req.reads_outstanding != 0) return false;
  if (!completes_by_response(wqe.opcode)) return true;
  if (qp.attributes.rd_atomic_max == 0) return true;  // to be refused
  return req.reads_outstanding < qp.attributes.rd_atomic_max &&
         req.ahead(req.next_psn) + packets_of(wqe.length, qp.mtu_bytes) <= kOutstandingPsnsMax;
}

// The WQE at the cursor ends with `status`, now or when the older ones are complete.
void refuse(QpContext& qp, TransportEnv& env, WcStatus status) {
  if (qp.req.next_index == qp.queues->send.consumer.load(std::memory_order_relaxed)) {
    fail_send(qp, env, status);
  } else {
    qp.req.held_status = status;
  }
}

// What a packet needs beside its payload.
struct Packet {
  Opcode opcode;
  uint32_t payload_bytes;
  uint32_t psns;  // that it takes
  bool ends_message;
  bool solicited;
  bool ack_request;
};

// Writes BTH and extension headers, and the end of the frame: the payload is in place.
void finish_packet(QpContext& qp, const TransportEnv& env, const SendWqe& wqe, const Packet& packet,
                   TxSlot& slot) {
  const RequesterState& req = qp.req;
  const wire::OpcodeInfo& info = wire::opcode_info(packet.opcode);
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  uint8_t* bth = slot.room + headers.length;
  wire::Bth header;
  header.opcode = packet.opcode;
  header.solicited = packet.solicited;
  header.pad = wire::pad_bytes(packet.payload_bytes);
  header.pkey = qp.pkey;
  header.dest_qpn = qp.attributes.dest_qpn;
  header.ack_request = packet.ack_request;
  header.psn = req.next_psn;
  if (info.reth != 0) {
    const uint32_t offset = req.next_packet * qp.mtu_bytes;  // not 0 for the rest of a READ only
    const wire::Reth reth{wqe.remote_address + offset, Key(wqe.rkey), wqe.length - offset};
    reth.store(bth + info.reth);
  }
  if (info.imm != 0) wire::ImmDt{wqe.immediate_be}.store(bth + info.imm);
  const uint32_t end = headers.length + info.header_bytes + packet.payload_bytes;
  slot.length = wire::seal_packet(slot.room, headers, env.ip_id, header, end);
  slot.route = qp.attributes.av.route;
}

// Moves the cursor behind the packet that was put out.
void advance(QpContext& qp, TransportEnv& env, const Packet& packet) {
  RequesterState& req = qp.req;
  TransportCounters& counters = *env.counters;
  ++counters.sent_packets;
  counters.sent_bytes.add(packet.payload_bytes);
  ++env.ip_id;
  if (req.ahead(req.next_psn) < req.outstanding()) ++counters.retransmitted_packets;
  if (req.next_index == req.begun_index) ++req.begun_index;
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

bool emit_read(QpContext& qp, TransportEnv& env, TxSlot& slot, const SendWqe& wqe,
               const SendProgress& progress) {
  RequesterState& req = qp.req;
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  const uint32_t ib_bytes = wire::ib_length(Opcode::kRcReadRequest, 0);
  UROCE_ASSERT(headers.length + ib_bytes <= slot.capacity);
  const uint32_t psns = progress.packet_count - req.next_packet;
  const Packet packet{Opcode::kRcReadRequest, 0, psns, true, false, true};
  finish_packet(qp, env, wqe, packet, slot);
  if (req.next_index == req.begun_index) ++req.reads_outstanding;
  if (req.next_packet != 0) req.read_asked_psn = req.next_psn;
  advance(qp, env, packet);
  return true;
}

// Copies `count` bytes of the WQE's message, from byte `offset` on.
bool copy_payload(const QpContext& qp, const TransportEnv& env, const SendWqe& wqe, uint32_t offset,
                  uint8_t* to, uint32_t count) {
  const SendQueue& send = qp.queues->send;
  if ((wqe.flags & kSendInline) != 0) {
    std::memcpy(to, send.payload_area(wqe) + offset, count);
    return true;
  }
  return memory::gather(*env.keys, qp.pd, send.sges(wqe), offset, to, count) ==
         memory::KeyVerdict::kGood;
}

// A packet of a SEND or WRITE.
bool emit_message(QpContext& qp, TransportEnv& env, TxSlot& slot, const SendWqe& wqe) {
  const RequesterState& req = qp.req;
  const uint32_t offset = req.next_packet * qp.mtu_bytes;
  const uint32_t payload_bytes = std::min(wqe.length - offset, qp.mtu_bytes);
  const bool last = offset + payload_bytes == wqe.length;
  const uint32_t place = (req.next_packet == 0 ? 1u : 0u) | (last ? 2u : 0u);
  const Opcode opcode = kOpcodes[static_cast<uint8_t>(wqe.opcode)][place];
  const wire::OpcodeInfo& info = wire::opcode_info(opcode);
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  const uint32_t ib_bytes = wire::ib_length(opcode, payload_bytes);
  UROCE_ASSERT(headers.length + ib_bytes <= slot.capacity);
  uint8_t* bth = slot.room + headers.length;
  if (!copy_payload(qp, env, wqe, offset, bth + info.header_bytes, payload_bytes)) {
    refuse(qp, env, WcStatus::kLocProtErr);
    return false;
  }
  const bool fills_window = req.ahead(req.next_psn) + 1 >= kUnackedPsnsMax;
  const Packet packet{opcode,
                      payload_bytes,
                      1,
                      last,
                      (wqe.flags & kSendSolicited) != 0 && info.has(wire::kCompletesRecv),
                      last || fills_window || req.packets_since_ack_request >= kAckRequestPeriod};
  finish_packet(qp, env, wqe, packet, slot);
  advance(qp, env, packet);
  return true;
}

// Requests that no peer could answer or no code here could send; the poster refuses most of them.
bool sendable(const QpContext& qp, const SendWqe& wqe) {
  if (wqe.opcode == WrOpcode::kRdmaRead) return qp.attributes.rd_atomic_max != 0;
  return wqe.opcode < WrOpcode::kRdmaRead;
}

}  // namespace

bool request_ready(QpContext& qp, Time now) {
  const RequesterState& req = qp.req;
  if (qp.state != QpState::kRts && qp.state != QpState::kSqd) return false;
  if (req.rnr_until != kNever && now < req.rnr_until) return false;
  if (req.held_status != WcStatus::kSuccess) return false;
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
  SendProgress& progress = qp.queues->progress[req.next_index & send.mask];
  if (req.next_index == req.begun_index) {
    if (!sendable(qp, wqe)) {
      refuse(qp, env, WcStatus::kLocQpOpErr);
      return false;
    }
    progress = {req.next_psn, packets_of(wqe.length, qp.mtu_bytes)};
  }
  if (wqe.opcode == WrOpcode::kRdmaRead) return emit_read(qp, env, slot, wqe, progress);
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
  const uint32_t oldest = qp.queues->send.consumer.load(std::memory_order_relaxed);
  if (qp.type == QpType::kRc && oldest != qp.req.begun_index) return;
  qp.attributes.sq_draining = false;
  if (qp.attributes.sqd_async_notify) env.raise(EventType::kSqDrained, qp.user);
}

}  // namespace uroce::transport
