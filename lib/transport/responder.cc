// SPDX-License-Identifier: BSD-3-Clause
// The RC responder, which is the XRC target too.
//
// A request packet goes through three steps. (1) The PSN says whether it is the expected one; one
// ahead is a gap, one behind a duplicate (replay.cc). (2) judge() looks at everything else in the
// order of IBA 9.7.4: opcode sequence, what the queue pair permits, receive WQE, length, key. It
// changes nothing (but that a WQE of a shared receive queue becomes the queue pair's, and that an
// XRC target enters the queue that is named) and gives a verdict. (3) Only a packet that passed is
// executed: bytes are placed, then the PSN moves on, then the message completes, then the answer is
// owed. A refusal leaves the PSN where it is; all but "receiver not ready" end the queue pair.
#include "transport/responder.h"

#include <algorithm>

#include "memory/scatter.h"
#include "transport/atomic.h"
#include "transport/completion_entry.h"
#include "transport/error_class.h"
#include "transport/flush.h"
#include "transport/judgement.h"
#include "transport/receive_work.h"
#include "transport/remote_invalidate.h"
#include "transport/reorder.h"
#include "transport/replay.h"
#include "transport/response_queue.h"
#include "transport/xrc.h"
#include "wire/headers.h"

namespace uroce::transport {
namespace {

using memory::KeyVerdict;
using wire::Aeth;
using wire::NakCode;
using wire::ParsedFrame;
using wire::Reth;

constexpr bool ends_message(uint32_t flags) { return (flags & (wire::kLast | wire::kOnly)) != 0; }

// Payload against the path MTU: a FIRST or MIDDLE is full, a LAST is not empty.
bool length_fits(uint32_t flags, uint32_t payload, uint32_t mtu) {
  if ((flags & wire::kOnly) != 0) return payload <= mtu;
  if ((flags & wire::kLast) != 0) return payload != 0 && payload <= mtu;
  return payload == mtu;
}

Plan judge_send(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, uint32_t flags) {
  if ((flags & wire::kTakesRecvWqe) != 0 && !recv_wqe_there(qp, env)) return {Verdict::kNotReady};
  if (!length_fits(flags, frame.payload_length, qp.mtu_bytes)) {
    return {Verdict::kInvalidRequest, true};
  }
  const uint32_t room = std::min(recv_wqe(qp).length, Reth::kLengthMax);
  if (frame.payload_length > room - qp.resp.received_bytes) return {Verdict::kTooLong, true};
  return {Verdict::kTake, true};
}

Plan judge_write(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, uint32_t flags) {
  if ((qp.attributes.access & memory::kRemoteWrite) == 0) return {Verdict::kInvalidRequest};
  const bool takes_wqe = (flags & wire::kTakesRecvWqe) != 0;
  if (takes_wqe && !recv_wqe_there(qp, env)) return {Verdict::kNotReady};
  const uint32_t payload = frame.payload_length;
  if (!length_fits(flags, payload, qp.mtu_bytes)) return {Verdict::kInvalidRequest, takes_wqe};
  Plan plan{Verdict::kTake, takes_wqe};
  uint32_t left = qp.resp.write_bytes_left;
  const bool begins = (flags & wire::kReth) != 0;
  if (begins) {
    const Reth reth = frame.reth();
    left = reth.length_bytes;
    if (left > Reth::kLengthMax) return {Verdict::kInvalidRequest, takes_wqe};
    // The whole range at once, before any byte moves; a length of 0 names no memory (IBA C9-88).
    if (left != 0 && env.keys->translate_remote(reth.rkey, qp.pd, qp.qpn, memory::kRemoteWrite,
                                                reth.address, left, plan.to) != KeyVerdict::kGood) {
      return {Verdict::kAccess, takes_wqe};
    }
  }
  if (ends_message(flags) ? payload != left : payload > left) {
    return {Verdict::kInvalidRequest, takes_wqe};
  }
  // The key may have gone since the FIRST.
  if (!begins &&
      env.keys->translate_remote(Key(qp.resp.write_rkey), qp.pd, qp.qpn, memory::kRemoteWrite,
                                 qp.resp.write_address, payload, plan.to) != KeyVerdict::kGood) {
    return {Verdict::kAccess, takes_wqe};
  }
  return plan;
}

Plan judge_read(const QpContext& qp, const TransportEnv& env, const ParsedFrame& frame) {
  const QpAttributes& attributes = qp.attributes;
  if ((attributes.access & memory::kRemoteRead) == 0) return {Verdict::kInvalidRequest};
  if (attributes.dest_rd_atomic_max == 0 || !room_for_read(qp)) return {Verdict::kInvalidRequest};
  const Reth reth = frame.reth();
  if (frame.payload_length != 0 || reth.length_bytes > Reth::kLengthMax) {
    return {Verdict::kInvalidRequest};
  }
  uint8_t* from = nullptr;
  if (reth.length_bytes != 0 &&
      env.keys->translate_remote(reth.rkey, qp.pd, qp.qpn, memory::kRemoteRead, reth.address,
                                 reth.length_bytes, from) != KeyVerdict::kGood) {
    return {Verdict::kAccess};
  }
  return {Verdict::kTake};
}

Plan judge(QpContext& qp, TransportEnv& env, const ParsedFrame& frame) {
  const uint32_t flags = frame.info->flags;
  if (!in_sequence(qp.resp.message, flags)) return {Verdict::kInvalidRequest};
  if (qp.type == QpType::kXrcTgt && !enter_named_queue(qp, env, frame)) {
    return {Verdict::kInvalidRequest};
  }
  if ((flags & (wire::kSend | wire::kWrite)) != 0) return judge_message(qp, env, frame);
  if ((flags & wire::kRead) != 0) return judge_read(qp, env, frame);
  if ((flags & wire::kFlushOp) != 0) return judge_flush(qp, env, frame);
  return judge_atomic(qp, env, frame);
}

// The end of the queue pair by this packet: NAK, error completion, ERR.
void refuse(QpContext& qp, TransportEnv& env, Psn psn, const Plan& plan) {
  TransportCounters& counters = *env.counters;
  NakCode code = NakCode::kInvalidRequest;
  WcStatus status = WcStatus::kRemInvReqErr;
  if (plan.verdict == Verdict::kAccess) {
    code = NakCode::kRemoteAccess;
    status = WcStatus::kRemAccessErr;
    ++counters.resp_remote_access_errors;
  } else if (plan.verdict == Verdict::kBadBuffer) {
    code = NakCode::kRemoteOperational;
    status = WcStatus::kLocProtErr;
    ++counters.resp_remote_operational_errors;
  } else {
    if (plan.verdict == Verdict::kTooLong) status = WcStatus::kLocLenErr;
    ++counters.resp_remote_invalid_request;
  }
  owe_last_nak(qp, psn, Aeth::nak(code));
  qp.resp.recv_wqe_held = qp.resp.recv_wqe_held || plan.uses_wqe;
  fail_receive(qp, env, status);
}

void not_ready(QpContext& qp, TransportEnv& env, Psn psn) {
  env.drops->count(wire::Drop::kRecvQueueEmpty);
  ++qp.recv_queue_empty;
  forget_kept(qp, env);  // the peer sends them again behind this one
  if (!owe_nak(qp, psn, Aeth::rnr_nak(qp.attributes.min_rnr_timer))) return;
  qp.resp.rnr_nak_sent = true;
  ++env.counters->rnr_nak_sent;
}

void owe_sequence_nak(QpContext& qp, TransportEnv& env) {
  ResponderState& resp = qp.resp;
  if (!owe_nak(qp, resp.expected_psn, Aeth::nak(NakCode::kPsnSequence))) return;
  resp.sequence_nak_sent = true;
  ++env.counters->out_of_sequence;
}

// A packet ahead of the expected one: kept for later if there is room. One NAK per gap; while an
// RNR NAK stands, none, and nothing is kept.
void sequence_gap(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, ReceiveTime arrival) {
  if (qp.resp.rnr_nak_sent) return env.drops->count(wire::Drop::kOutOfOrder);
  keep_early(qp, env, frame, arrival);
  if (!qp.resp.sequence_nak_sent) owe_sequence_nak(qp, env);
}

// The packet has been executed: the PSN moves on and the message may count.
void advance(QpContext& qp, uint32_t psns, bool message_done) {
  ResponderState& resp = qp.resp;
  const Psn before = resp.expected_psn;
  resp.expected_psn = before + psns;
  resp.sequence_nak_sent = false;
  resp.rnr_nak_sent = false;
  if (message_done) resp.msn = (resp.msn + 1) & Psn::kMask;
  if (((before.value() ^ resp.expected_psn.value()) >> 22) != 0) [[unlikely]] {
    forget_old_reads(qp);
  }
}

// The receive completion of a message. A full CQ puts the queue pair into ERR.
void complete_receive(QpContext& qp, TransportEnv& env, const ParsedFrame& frame,
                      ReceiveTime arrival, WcOpcode opcode, uint32_t byte_len) {
  ReceiveQueue& recv = qp.queues->recv;
  const uint32_t index = recv.consumer.load(std::memory_order_relaxed);
  Cqe cqe{};
  cqe.wr_id = recv.wqe(index).wr_id;
  cqe.qp = qp.user;
  cqe.arrival_ns = arrival.at.time_since_epoch().count();
  cqe.byte_len = byte_len;
  cqe.qpn = qp.qpn.value();
  cqe.status = WcStatus::kSuccess;
  cqe.opcode = opcode;
  uint32_t flags = kWcGrh | receive_time_flag(arrival);  // RoCEv2 always has a network header
  if (frame.info->imm != 0) {
    flags |= kWcWithImm;
    cqe.immediate_be = frame.imm().network_order;
  }
  if (frame.info->ieth != 0) {
    flags |= kWcWithInvalidate;
    cqe.immediate_be = frame.ieth().rkey.value();
  }
  cqe.wc_flags = static_cast<uint16_t>(flags);
  cqe.solicited = frame.solicited();
  recv.consumer.store(index + 1, std::memory_order_release);
  qp.resp.recv_wqe_held = false;
  if (!cq_push(env, *qp.recv_cq, cqe)) [[unlikely]] {
    return enter_error(qp, env);
  }
  ++env.counters->rdma_recvs;
}

// False: the L_Key of the receive WQE is bad.
bool take_send(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, ReceiveTime arrival) {
  ResponderState& resp = qp.resp;
  const uint32_t payload = frame.payload_length;
  if (payload != 0 &&
      memory::scatter(*env.keys, qp.recv_pd, recv_wqe(qp).sges(), resp.received_bytes,
                      frame.payload, payload) != KeyVerdict::kGood) {
    return false;
  }
  const bool done = ends_message(frame.info->flags);
  advance(qp, 1, done);
  resp.received_bytes += payload;
  env.counters->received_bytes.add(payload);
  if (done) {
    const uint32_t byte_len = resp.received_bytes;
    resp.received_bytes = 0;
    resp.message = MessageInProgress::kNone;
    if (frame.info->ieth != 0 && !invalidate_for_peer(qp, env, frame)) return true;
    complete_receive(qp, env, frame, arrival, WcOpcode::kRecv, byte_len);
  } else {
    resp.message = MessageInProgress::kSend;
    resp.recv_wqe_held = true;
  }
  return true;
}

// Places a part of a WRITE. The last bytes go last (and together, where they lie in one cache
// line): programs wait for them.
void place(uint8_t* to, const uint8_t* from, uint32_t count) {
  constexpr uint32_t kWord = sizeof(uint64_t);
  if (count <= kWord) {
    std::memcpy(to, from, count);
    return;
  }
  std::memcpy(to, from, count - kWord);
  std::atomic_signal_fence(std::memory_order_release);  // x86 keeps the order of stores
  std::memcpy(to + count - kWord, from + count - kWord, kWord);
}

void take_write(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, ReceiveTime arrival,
                uint8_t* to) {
  ResponderState& resp = qp.resp;
  const uint32_t flags = frame.info->flags;
  const uint32_t payload = frame.payload_length;
  if ((flags & wire::kReth) != 0) {
    const Reth reth = frame.reth();
    resp.write_address = reth.address;
    resp.write_rkey = reth.rkey.value();
    resp.write_bytes_left = reth.length_bytes;
    resp.write_length = reth.length_bytes;
  }
  if (payload != 0) place(to, frame.payload, payload);
  resp.write_address += payload;
  resp.write_bytes_left -= payload;
  env.counters->received_bytes.add(payload);
  const bool done = ends_message(flags);
  resp.message = done ? MessageInProgress::kNone : MessageInProgress::kWrite;
  advance(qp, 1, done);
  if (done) {
    ++env.counters->rx_write_requests;
    if ((flags & wire::kCompletesRecv) != 0) {
      complete_receive(qp, env, frame, arrival, WcOpcode::kRecvRdmaWithImm, resp.write_length);
    }
  }
}

void take_read(QpContext& qp, TransportEnv& env, const ParsedFrame& frame) {
  const Reth reth = frame.reth();
  const uint32_t psns = read_response_packets(reth.length_bytes, qp.mtu_bytes);
  remember_read(qp, frame.psn, psns, reth);
  advance(qp, psns, true);               // a READ counts when it is taken (IBA C9-148)
  if (psns > 1) forget_passed(qp, env);  // no request may use the PSNs of the response
  owe_read(qp, frame.psn, reth.address, reth.length_bytes, reth.rkey.value(), qp.pd);
  ++env.counters->rx_read_requests;
}

// Atomics and ATOMIC WRITE are executed at once, before anything that comes behind them.
void take_operation(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, uint8_t* word) {
  const uint64_t original = execute_atomic(frame, word);
  remember_operation(qp, frame, original);
  advance(qp, 1, true);
  owe_operation(qp, frame.psn, frame.opcode, original);
  ++env.counters->rx_atomic_requests;
}

// The next part of the FLUSH in progress, and its answer behind the last one.
void go_on_with_flush(QpContext& qp, TransportEnv& env) {
  FlushInProgress& flush = qp.resp.flush;
  const Psn psn = qp.resp.expected_psn;
  bool done = false;
  flush.next_part = kNever;
  if (flush_part(qp, env, done) != KeyVerdict::kGood) {
    return refuse(qp, env, psn, {Verdict::kAccess});
  }
  if (!done) {
    flush.next_part = env.now;
    return;
  }
  remember_flush(qp);
  advance(qp, 1, true);
  owe_operation(qp, psn, flush.opcode, 0);
}

// The first valid packet tells a passive side that the peer is there before it says so itself.
void note_established(QpContext& qp, TransportEnv& env) {
  if (qp.resp.established) return;
  qp.resp.established = true;
  if (qp.state == QpState::kRtr) env.raise(qp.events, EventType::kCommEst, qp.user);
}

bool flush_in_progress(const QpContext& qp) { return qp.resp.flush.next_part != kNever; }

bool takes_requests(QpState state) {
  return state == QpState::kRtr || state == QpState::kRts || state == QpState::kSqd ||
         state == QpState::kSqe;
}

// The packet that is expected, new or kept.
void take_expected(QpContext& qp, TransportEnv& env, const ParsedFrame& frame,
                   ReceiveTime arrival) {
  const Plan plan = judge(qp, env, frame);
  if (plan.verdict != Verdict::kTake && plan.verdict != Verdict::kNotReady) [[unlikely]] {
    return refuse(qp, env, frame.psn, plan);
  }
  note_established(qp, env);
  if (plan.verdict == Verdict::kNotReady) return not_ready(qp, env, frame.psn);
  if (frame.info->has(wire::kSend | wire::kWrite)) {
    if (!take_message(qp, env, frame, arrival, plan)) [[unlikely]] {
      return refuse(qp, env, frame.psn, {Verdict::kBadBuffer, true});
    }
    if (frame.ack_request() && qp.state != QpState::kErr) owe_acknowledge(qp, frame.psn);
  } else if (frame.info->has(wire::kRead)) {
    take_read(qp, env, frame);
  } else if (frame.info->has(wire::kFlushOp)) {
    qp.resp.flush = begin_flush(frame);
    go_on_with_flush(qp, env);
  } else {
    take_operation(qp, env, frame, plan.to);
  }
}

// A packet has been taken, and behind it there are kept ones: those whose turn has come. The ACK
// of the last is owed, asked for or not, so that the peer learns how far that went; where another
// gap follows, its NAK goes out at once, because whatever would bring it may be here already. A
// gap that only became shorter has had its NAK, or has it with the next packet behind it.
void take_kept_packets(QpContext& qp, TransportEnv& env) {
  bool taken = false;
  bool acknowledge = false;
  while (!flush_in_progress(qp)) {
    ReorderBuffer::Packet* const packet = take_kept(qp, env);
    if (packet == nullptr) break;
    const Psn before = qp.resp.expected_psn;
    take_expected(qp, env, packet->frame, packet->arrival);
    taken = qp.resp.expected_psn != before;
    if (taken) acknowledge = packet->frame.info->has(wire::kSend | wire::kWrite);
    env.reorder->give_back(*packet);
  }
  if (qp.state == QpState::kErr || qp.resp.rnr_nak_sent) return;
  if (acknowledge) owe_acknowledge(qp, qp.resp.expected_psn - 1);
  if (taken && qp.resp.kept_count != 0) owe_sequence_nak(qp, env);
}

}  // namespace

Plan judge_message(QpContext& qp, TransportEnv& env, const ParsedFrame& frame) {
  const uint32_t flags = frame.info->flags;
  if ((flags & wire::kSend) != 0) return judge_send(qp, env, frame, flags);
  return judge_write(qp, env, frame, flags);
}

bool take_message(QpContext& qp, TransportEnv& env, const ParsedFrame& frame, ReceiveTime arrival,
                  const Plan& plan) {
  note_established(qp, env);
  if (frame.info->has(wire::kSend)) return take_send(qp, env, frame, arrival);
  take_write(qp, env, frame, arrival, plan.to);
  return true;
}

void receive_request(QpContext& qp, TransportEnv& env, const ParsedFrame& frame,
                     ReceiveTime arrival) {
  if (!takes_requests(qp.state)) {
    env.drops->count(wire::Drop::kQpState);
    return;
  }
  const int32_t ahead = frame.psn.distance_from(qp.resp.expected_psn);
  if (flush_in_progress(qp) && ahead >= 0) [[unlikely]] {
    // Nothing is missing: no NAK. The peer has sent the FLUSH again, or something behind it.
    return ahead == 0 ? env.drops->count(wire::Drop::kDuplicate)
                      : keep_early(qp, env, frame, arrival);
  }
  if (ahead != 0) [[unlikely]] {
    return ahead > 0 ? sequence_gap(qp, env, frame, arrival) : receive_duplicate(qp, env, frame);
  }
  take_expected(qp, env, frame, arrival);
  if (qp.resp.kept_count != 0) [[unlikely]]
    take_kept_packets(qp, env);
}

void continue_flush(QpContext& qp, TransportEnv& env) {
  if (!takes_requests(qp.state)) {
    qp.resp.flush.next_part = kNever;
    return;
  }
  go_on_with_flush(qp, env);
  if (qp.resp.kept_count != 0) take_kept_packets(qp, env);
}

}  // namespace uroce::transport
