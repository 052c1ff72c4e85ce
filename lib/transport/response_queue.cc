// SPDX-License-Identifier: BSD-3-Clause
// The queue of answers and how they become packets.
//
// A ring of Response entries. Answers leave in the order of the requests, so an ACK behind a READ
// waits for the last packet of its response (an ACK that overtakes it would be an implied NAK).
// Coalescing touches the tail only, which keeps that order: a new ACK absorbs ACKs and sequence
// NAKs at the tail, never a READ.
//
// Bounds. One entry is kept free for the NAK that ends the queue pair. A new READ needs room for
// itself and what may follow; duplicates may fill a quarter. When an ACK finds no room it is
// dropped like a lost packet: the peer repeats the request and the duplicate is acknowledged.
#include "transport/response_queue.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/error_class.h"
#include "transport/responder.h"
#include "transport/service.h"
#include "wire/emit.h"
#include "wire/headers.h"
#include "wire/icrc.h"

namespace uroce::transport {
namespace {

using wire::Aeth;
using wire::NakCode;
using wire::Opcode;

constexpr uint32_t kMask = kResponsesMax - 1;
static_assert((kResponsesMax & kMask) == 0);
constexpr uint32_t kReadsAgainMax = kResponsesMax / 4;
constexpr uint32_t kRoomBehindRead = 3;  // an ACK or two, and the NAK that ends everything
constexpr uint8_t kSequenceNak = Aeth::nak(NakCode::kPsnSequence);

uint32_t waiting(const QpContext& qp) { return qp.resp.responses_tail - qp.resp.responses_head; }

Response& entry(const QpContext& qp, uint32_t index) { return qp.queues->responses[index & kMask]; }

// Whether an ACK may take the entry's place.
bool absorbed_by_ack(const Response& r) {
  return r.kind == Response::Kind::kAcknowledge &&
         (r.syndrome == Aeth::kAckNoCredits || r.syndrome == kSequenceNak);
}

void append_acknowledge(QpContext& qp, Psn psn, uint8_t syndrome) {
  Response& r = entry(qp, qp.resp.responses_tail++);
  r.kind = Response::Kind::kAcknowledge;
  r.syndrome = syndrome;
  r.psn = psn;
  r.msn = qp.resp.msn;
}

// What all response packets have in common: the BTH, the slot's length and route, the counters.
wire::Bth begin_packet(const QpContext& qp, TransportEnv& env, TxSlot& slot, Opcode opcode, Psn psn,
                       uint32_t payload_bytes) {
  const AddressVector& av = qp.attributes.av;
  slot.length = av.headers.length + wire::ib_length(opcode, payload_bytes);
  slot.route = av.route;
  UROCE_ASSERT(slot.length <= slot.capacity);
  wire::Bth header;
  header.opcode = opcode_of(qp.type, opcode);
  header.pad = wire::pad_bytes(payload_bytes);
  header.pkey = qp.pkey;
  header.dest_qpn = qp.attributes.dest_qpn;
  header.psn = psn;
  ++env.ip_id;
  ++env.counters->sent_packets;
  env.counters->sent_bytes.add(payload_bytes);
  return header;
}

void emit_acknowledge(const QpContext& qp, TransportEnv& env, TxSlot& slot, const Response& r) {
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  const wire::Bth header = begin_packet(qp, env, slot, Opcode::kRcAcknowledge, r.psn, 0);
  const uint32_t aeth = headers.length + wire::kBthBytes;
  Aeth{r.syndrome, r.msn}.store(slot.room + aeth);
  wire::seal_packet(slot.room, headers, env.ip_id, header, aeth + Aeth::kBytes);
}

// The next packet of a READ response. False: the R_Key no longer gives the right to read.
bool emit_read(const QpContext& qp, TransportEnv& env, TxSlot& slot, Response& r, bool& finished) {
  // Bit 0: first packet, bit 1: last.
  static constexpr Opcode kOpcodes[] = {Opcode::kRcReadResponseMiddle, Opcode::kRcReadResponseFirst,
                                        Opcode::kRcReadResponseLast, Opcode::kRcReadResponseOnly};
  const uint32_t offset = r.packets_sent * qp.mtu_bytes;
  const uint32_t bytes = std::min(r.length - offset, qp.mtu_bytes);
  uint8_t* from = nullptr;
  if (bytes != 0 &&
      env.keys->translate_remote(Key(r.rkey), r.pd, qp.qpn, memory::kRemoteRead, r.address + offset,
                                 bytes, from) != memory::KeyVerdict::kGood) {
    return false;
  }
  finished = offset + bytes == r.length;
  const Opcode opcode = kOpcodes[(r.packets_sent == 0 ? 1 : 0) | (finished ? 2 : 0)];
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  const wire::Bth header = begin_packet(qp, env, slot, opcode, r.psn + r.packets_sent, bytes);
  wire::IcrcState crc =
      wire::emit_begin(slot.room, headers, slot.length - headers.length, env.ip_id, header);
  uint8_t* at = slot.room + headers.length + wire::kBthBytes;
  if (opcode != Opcode::kRcReadResponseMiddle) {
    Aeth{Aeth::kAckNoCredits, r.msn}.store(at);
    crc = wire::icrc_update(crc, at, Aeth::kBytes);
    at += Aeth::kBytes;
  }
  crc = wire::icrc_copy(crc, at, from, bytes);
  wire::finish_tail(crc, at + bytes, wire::pad_bytes(bytes));
  ++r.packets_sent;
  return true;
}

void emit_atomic_acknowledge(const QpContext& qp, TransportEnv& env, TxSlot& slot,
                             const Response& r) {
  const wire::HeaderTemplate& headers = qp.attributes.av.headers;
  const Opcode opcode = Opcode::kRcAtomicAcknowledge;
  const wire::OpcodeInfo& info = wire::opcode_info(opcode);
  const wire::Bth header = begin_packet(qp, env, slot, opcode, r.psn, 0);
  uint8_t* bth = slot.room + headers.length;
  Aeth{Aeth::kAckNoCredits, r.msn}.store(bth + info.aeth);
  wire::AtomicAckEth{r.original}.store(bth + info.atomic_ack);
  wire::seal_packet(slot.room, headers, env.ip_id, header, headers.length + info.header_bytes);
}

// The key of a READ under way is gone: a NAK with the PSN of the packet that cannot be sent, and
// nothing behind it. A receive WQE that is held meanwhile is a later message's.
void refuse_rest_of_read(QpContext& qp, TransportEnv& env, const Response& r) {
  const Psn psn = r.psn + r.packets_sent;
  qp.resp.responses_tail = qp.resp.responses_head;
  owe_last_nak(qp, psn, Aeth::nak(NakCode::kRemoteAccess));
  ++env.counters->resp_remote_access_errors;
  if (qp.state != QpState::kErr) fail_responder(qp, env, WcStatus::kRemAccessErr);
}

}  // namespace

void owe_acknowledge(QpContext& qp, Psn psn) {
  ResponderState& resp = qp.resp;
  while (resp.responses_tail != resp.responses_head &&
         absorbed_by_ack(entry(qp, resp.responses_tail - 1))) {
    --resp.responses_tail;
  }
  if (waiting(qp) < kResponsesMax - 1) append_acknowledge(qp, psn, Aeth::kAckNoCredits);
}

void owe_acknowledge_again(QpContext& qp, Psn psn) {
  if (waiting(qp) != 0) {
    Response& tail = entry(qp, qp.resp.responses_tail - 1);
    if (tail.kind == Response::Kind::kAcknowledge) {
      const bool ack = tail.syndrome == Aeth::kAckNoCredits;
      if (ack && psn.after(tail.psn)) {
        tail.psn = psn;
        tail.msn = qp.resp.msn;
      }
      return;
    }
  }
  if (waiting(qp) < kResponsesMax - 1) append_acknowledge(qp, psn, Aeth::kAckNoCredits);
}

bool owe_nak(QpContext& qp, Psn psn, uint8_t syndrome) {
  if (waiting(qp) >= kResponsesMax - 1) return false;
  append_acknowledge(qp, psn, syndrome);
  return true;
}

void owe_last_nak(QpContext& qp, Psn psn, uint8_t syndrome) {
  UROCE_ASSERT(waiting(qp) < kResponsesMax);
  append_acknowledge(qp, psn, syndrome);
}

bool room_for_read(const QpContext& qp) { return waiting(qp) + kRoomBehindRead < kResponsesMax; }

bool room_for_read_again(const QpContext& qp) { return waiting(qp) < kReadsAgainMax; }

void owe_read(QpContext& qp, Psn first, uint64_t address, uint32_t length, uint32_t rkey,
              uint32_t pd) {
  UROCE_ASSERT(waiting(qp) < kResponsesMax - 1);
  Response& r = entry(qp, qp.resp.responses_tail++);
  r = {Response::Kind::kRead, 0, first, qp.resp.msn, address, length, rkey, pd, 0, 0};
}

void owe_read_again(QpContext& qp, Psn first, uint64_t address, uint32_t length, uint32_t rkey,
                    uint32_t pd) {
  owe_read(qp, first, address, length, rkey, pd);
  entry(qp, qp.resp.responses_tail - 1).again = true;
}

bool read_goes_on(QpContext& qp, Psn first, uint64_t address, uint32_t length, uint32_t rkey) {
  for (uint32_t i = qp.resp.responses_head; i != qp.resp.responses_tail; ++i) {
    Response& r = entry(qp, i);
    if (r.kind != Response::Kind::kRead || r.rkey != rkey || length > r.length) continue;
    const uint32_t skipped = r.length - length;  // before the part that is asked for
    const uint32_t packet = (first.value() - r.psn.value()) & Psn::kMask;
    const bool same_end = address - r.address == skipped;
    if (!same_end || uint64_t{packet} * qp.mtu_bytes != skipped) continue;
    if (packet < r.packets_sent) {
      r = {
          Response::Kind::kRead, 0, first, qp.resp.msn, address, length, rkey, r.pd, 0, 0, r.again};
    }
    return true;
  }
  return false;
}

void owe_operation(QpContext& qp, Psn psn, Opcode opcode, uint64_t original) {
  owe_read(qp, psn, 0, 0, 0, 0);  // a response without payload is what a READ of nothing gets
  if (!wire::opcode_info(opcode).has(wire::kAtomicOp)) return;
  Response& r = entry(qp, qp.resp.responses_tail - 1);
  r.kind = Response::Kind::kAtomic;
  r.original = original;
}

// In ERR too: what is left there leads up to the NAK that was the reason, or there is nothing left
// (move_to_error drops the queue).
bool response_ready(const QpContext& qp) { return waiting(qp) != 0; }

bool emit_response(QpContext& qp, TransportEnv& env, TxSlot& slot) {
  if (!response_ready(qp)) return false;
  Response* r = &entry(qp, qp.resp.responses_head);
  bool finished = true;
  if (r->kind == Response::Kind::kRead && !emit_read(qp, env, slot, *r, finished)) {
    if (r->again) {
      ++qp.resp.responses_head;
      env.drops->count(wire::Drop::kDuplicate);
      return false;
    }
    refuse_rest_of_read(qp, env, *r);
    r = &entry(qp, qp.resp.responses_head);
  }
  if (r->kind == Response::Kind::kAcknowledge) emit_acknowledge(qp, env, slot, *r);
  if (r->kind == Response::Kind::kAtomic) emit_atomic_acknowledge(qp, env, slot, *r);
  if (finished) ++qp.resp.responses_head;
  return true;
}

}  // namespace uroce::transport
