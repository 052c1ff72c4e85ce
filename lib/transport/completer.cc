// SPDX-License-Identifier: BSD-3-Clause
// The RC completer.
//
// Every response says first that all requests before its PSN have arrived: SENDs and WRITEs before
// it complete. A READ completes by its own response only, so it stands in the way of a later PSN:
// that is an implied NAK, and the rest of the READ is asked for at once. What the response says of
// its own PSN comes after that.
//
// PSNs are taken as distances from the oldest one that is not acknowledged. A PSN that is not
// outstanding (a duplicate, a ghost of an earlier retry, an ACK to a duplicate request) says
// nothing and is dropped by name.
//
// Going back is done once per loss: while a retry runs, a NAK counts only if it names a later PSN
// than the last one, and an implied NAK not at all; neither costs a retry then. Progress ends it.
//
// Progress reloads both retry counters. An RNR NAK is no progress, but it is an answer: it reloads
// the counter of retries, which is about silence, and not its own (doc/architecture.md).
#include "transport/completer.h"

#include "memory/scatter.h"
#include "transport/error_class.h"
#include "transport/recovery.h"
#include "transport/requester.h"
#include "transport/retry.h"
#include "transport/tail_probe.h"
#include "wire/headers.h"

namespace uroce::transport {
namespace {

using wire::Drop;

bool alive(const QpContext& qp) { return qp.state == QpState::kRts || qp.state == QpState::kSqd; }
bool waits_for_receiver(const QpContext& qp) { return qp.req.rnr_until != kNever; }

const SendWqe& oldest_wqe(const QpContext& qp) {
  const SendQueue& send = qp.queues->send;
  return send.wqe(send.consumer.load(std::memory_order_relaxed));
}
const SendProgress& oldest_progress(const QpContext& qp) {
  const SendQueue& send = qp.queues->send;
  return qp.queues->progress[send.consumer.load(std::memory_order_relaxed) & send.mask];
}
// PSNs of the oldest WQE, which has begun, that are not acknowledged yet.
uint32_t packets_left(const QpContext& qp) {
  const SendProgress& progress = oldest_progress(qp);
  const Psn end = progress.first_psn + progress.packet_count;
  return qp.req.ahead(end);
}

// unacked_psn has moved.
void note_progress(QpContext& qp, TransportEnv& env) {
  RequesterState& req = qp.req;
  req.retry_left = qp.attributes.retry_count;
  req.rnr_left = qp.attributes.rnr_retry;
  req.recovering = false;
  if (req.ahead(req.rnr_psn) >= req.outstanding()) req.rnr_until = kNever;
  const bool timed = req.sample_sent != kNever && req.ahead(req.sample_psn) >= req.outstanding();
  if (timed) take_rtt_sample(req, env);
  // The cursor never stays behind what is acknowledged.
  const bool behind = req.ahead(req.next_psn) > req.outstanding();
  const uint32_t passed = behind ? (req.unacked_psn - req.next_psn.value()).value() : 0;
  if (behind) go_back(qp);
  if (recovery_under_way(req)) [[unlikely]]
    judge_progress(qp, env, passed);
  if (req.outstanding() == 0) {
    req.ack_deadline = kNever;
    req.probe_deadline = kNever;
  } else if (!waits_for_receiver(qp)) {
    arm_ack_timer(qp, env.now);
    const bool answered = req.ahead(req.asked_psn) >= req.outstanding();
    req.probe_deadline = answered ? kNever : probe_time(req, env.now);
  }
  if (req.held_status != WcStatus::kSuccess &&
      req.next_index == qp.queues->send.consumer.load(std::memory_order_relaxed)) {
    if (qp.state == QpState::kRts || req.next_index != req.begun_index) {
      fail_send(qp, env, req.held_status);
      return;
    }
    req.held_status = WcStatus::kSuccess;  // it may not begin in SQD: it is found again in RTS
  }
  raise_if_drained(qp, env);
}

// The requests before `end` have arrived. Returns how many PSNs before `end` are still not
// acknowledged, because the oldest WQE, an unfinished READ or atomic, is among them. The queue pair
// may be in ERR afterwards.
uint32_t acknowledge(QpContext& qp, TransportEnv& env, Psn end) {
  RequesterState& req = qp.req;
  uint32_t covered = req.ahead(end);
  const Psn before = req.unacked_psn;
  while (covered != 0 && !completes_by_response(oldest_wqe(qp).opcode)) {
    const uint32_t left = packets_left(qp);
    if (covered < left) {
      req.unacked_psn = req.unacked_psn + covered;
      covered = 0;
      break;
    }
    req.unacked_psn = req.unacked_psn + left;
    covered -= left;
    if (!complete_oldest_send(qp, env, WcStatus::kSuccess)) {
      enter_error(qp, env);
      return 0;
    }
  }
  if (req.unacked_psn != before) note_progress(qp, env);
  return covered;
}

// A response to something later than the READ that is not complete.
void imply_nak(QpContext& qp, TransportEnv& env, bool was_recovering) {
  if (waits_for_receiver(qp) || qp.req.recovering) {
    env.drops->count(Drop::kOutOfOrder);
    return;
  }
  ++env.counters->implied_nak_seq_err;
  send_again(qp, env, !was_recovering);
}

void take_ack(QpContext& qp, TransportEnv& env, Psn psn) {
  const bool was_recovering = qp.req.recovering;
  const uint32_t kept = acknowledge(qp, env, psn + 1);
  if (kept == 0 || !alive(qp)) return;
  if (kept > packets_left(qp)) {
    imply_nak(qp, env, was_recovering);
  } else {
    env.drops->count(Drop::kStaleAcknowledge);  // of a READ, which only its response completes
  }
}

void take_rnr_nak(QpContext& qp, TransportEnv& env, Psn psn, uint8_t timer_code) {
  RequesterState& req = qp.req;
  if (waits_for_receiver(qp) && psn == req.rnr_psn) {
    env.drops->count(Drop::kStaleAcknowledge);
    return;
  }
  ++env.counters->rnr_nak_received;
  const uint32_t kept = acknowledge(qp, env, psn);
  if (!alive(qp)) return;
  const bool last = qp.attributes.rnr_retry != 7 && req.rnr_left == 0;
  if (last && kept == 0) {
    give_up(qp, env, WcStatus::kRnrRetryExcErr, psn);
    return;
  }
  if (last) {
    // The oldest request would fail for the refused one. A READ that lacks its answer is asked for
    // once more, at the cost of a retry; the refusal comes again.
    if (!spend_retry(qp, env)) return;
  } else {
    if (qp.attributes.rnr_retry != 7) --req.rnr_left;
    // The peer is alive and has the packet: only silence since now counts against it.
    req.retry_left = qp.attributes.retry_count;
  }
  go_back(qp);
  req.recovering = true;
  req.recovery_psn = psn;
  req.rnr_psn = psn;
  req.rnr_until = env.now + rnr_delay(timer_code);
  hold_at_refused(req);
}

void take_sequence_nak(QpContext& qp, TransportEnv& env, Psn psn) {
  RequesterState& req = qp.req;
  const bool was_recovering = req.recovering;
  const bool probed = req.probes != 0;  // then it is the probe that brought the NAK
  const Psn recovered = req.recovery_psn;
  acknowledge(qp, env, psn);
  if (!alive(qp)) return;
  if (waits_for_receiver(qp) || (was_recovering && !psn.after(recovered))) {
    env.drops->count(Drop::kStaleAcknowledge);
    return;
  }
  ++env.counters->packet_seq_err;
  recover_from_nak(qp, env, psn, !was_recovering && !probed);
}

// Refused for good: the WQE that holds the PSN fails.
void take_refusal(QpContext& qp, TransportEnv& env, Psn psn, uint8_t syndrome) {
  const bool was_recovering = qp.req.recovering;
  const uint32_t kept = acknowledge(qp, env, psn);
  if (!alive(qp)) return;
  if (kept != 0 && kept >= packets_left(qp)) {
    imply_nak(qp, env, was_recovering);
    return;
  }
  TransportCounters& counters = *env.counters;
  switch (syndrome) {
    case wire::Aeth::nak(wire::NakCode::kInvalidRequest):
      ++counters.req_remote_invalid_request;
      fail_send(qp, env, WcStatus::kRemInvReqErr);
      return;
    case wire::Aeth::nak(wire::NakCode::kRemoteAccess):
      ++counters.req_remote_access_errors;
      fail_send(qp, env, WcStatus::kRemAccessErr);
      return;
    default:
      ++counters.req_remote_operational_errors;
      fail_send(qp, env, WcStatus::kRemOpErr);
  }
}

// Credits in an ACK are not looked at: NICs send 0 with flow control off.
void receive_acknowledge(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  const wire::Aeth aeth = frame.aeth();
  if (aeth.kind() == wire::AethKind::kAck) {
    take_ack(qp, env, frame.psn);
  } else if (aeth.kind() == wire::AethKind::kRnrNak) {
    take_rnr_nak(qp, env, frame.psn, aeth.rnr_timer());
  } else if (aeth.syndrome == wire::Aeth::nak(wire::NakCode::kPsnSequence)) {
    take_sequence_nak(qp, env, frame.psn);
  } else {
    take_refusal(qp, env, frame.psn, aeth.syndrome);
  }
}

// Whether a response packet may stand at the next PSN of the oldest READ. FIRST and ONLY begin an
// answer: at the READ's first PSN, or where its rest was asked for again; there a peer may also go
// on with MIDDLE and LAST, as rxe does.
bool response_fits(const QpContext& qp, const wire::ParsedFrame& frame, bool ends_read,
                   uint32_t expected_bytes) {
  const wire::OpcodeInfo& info = *frame.info;
  if (frame.payload_length != expected_bytes) return false;
  if (info.aeth != 0 && frame.aeth().kind() != wire::AethKind::kAck) return false;
  if (ends_read != info.has(wire::kLast | wire::kOnly)) return false;
  const bool at_start = frame.psn == oldest_progress(qp).first_psn;
  if (!info.has(wire::kFirst | wire::kOnly)) return !at_start;
  return at_start || frame.psn == qp.req.read_asked_psn;
}

// The next response packet of the oldest WQE, a READ.
void take_read_data(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  RequesterState& req = qp.req;
  const SendWqe& wqe = oldest_wqe(qp);
  const bool ends_read = packets_left(qp) == 1;
  const uint32_t done = (frame.psn - oldest_progress(qp).first_psn.value()).value();
  const uint32_t offset = done * qp.mtu_bytes;
  const uint32_t expected_bytes = ends_read ? wqe.length - offset : qp.mtu_bytes;
  if (!response_fits(qp, frame, ends_read, expected_bytes)) {
    fail_send(qp, env, WcStatus::kBadRespErr);
    return;
  }
  const auto sges = qp.queues->send.sges(wqe);
  if (memory::scatter(*env.keys, qp.pd, sges, offset, frame.payload, expected_bytes) !=
      memory::KeyVerdict::kGood) {
    fail_send(qp, env, WcStatus::kLocProtErr);
    return;
  }
  env.counters->received_bytes.add(expected_bytes);
  ++req.unacked_psn;
  if (ends_read) {
    --req.reads_outstanding;
    if (!complete_oldest_send(qp, env, WcStatus::kSuccess)) {
      enter_error(qp, env);
      return;
    }
  }
  note_progress(qp, env);
}

constexpr bool is_atomic(WrOpcode opcode) {
  return opcode == WrOpcode::kAtomicCmpSwap || opcode == WrOpcode::kAtomicFetchAdd;
}

// The answer to the oldest WQE, an atomic, ATOMIC WRITE or FLUSH: one packet, which completes it.
// That to an atomic brings the value that the word held, which is stored as a number of this host.
void take_whole_answer(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  if (!frame.info->has(wire::kOnly) || frame.payload_length != 0 ||
      frame.aeth().kind() != wire::AethKind::kAck) {
    fail_send(qp, env, WcStatus::kBadRespErr);
    return;
  }
  if (frame.info->has(wire::kAtomicOp)) {
    const uint64_t original = frame.atomic_ack().original;
    const auto sges = qp.queues->send.sges(oldest_wqe(qp));
    if (memory::scatter(*env.keys, qp.pd, sges, 0, reinterpret_cast<const uint8_t*>(&original),
                        sizeof original) != memory::KeyVerdict::kGood) {
      fail_send(qp, env, WcStatus::kLocProtErr);
      return;
    }
  }
  ++qp.req.unacked_psn;
  --qp.req.reads_outstanding;
  if (!complete_oldest_send(qp, env, WcStatus::kSuccess)) {
    enter_error(qp, env);
    return;
  }
  note_progress(qp, env);
}

// READ responses and ATOMIC ACKNOWLEDGEs.
void receive_answer(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  const bool was_recovering = qp.req.recovering;
  const uint32_t kept = acknowledge(qp, env, frame.psn);
  if (!alive(qp)) return;
  if (kept != 0) {
    imply_nak(qp, env, was_recovering);
    return;
  }
  const WrOpcode asked = oldest_wqe(qp).opcode;
  if (frame.info->has(wire::kAtomicOp) != is_atomic(asked)) {
    const bool data = frame.info->has(wire::kRead);
    fail_send(qp, env, data ? WcStatus::kFatalErr : WcStatus::kBadRespErr);
  } else if (!completes_by_response(asked)) {
    fail_send(qp, env, WcStatus::kFatalErr);
  } else if (asked == WrOpcode::kRdmaRead) {
    take_read_data(qp, env, frame);
  } else {
    take_whole_answer(qp, env, frame);
  }
}

WcOpcode completion_opcode(WrOpcode opcode) {
  switch (opcode) {
    case WrOpcode::kRdmaWrite:
    case WrOpcode::kRdmaWriteWithImm:
      return WcOpcode::kRdmaWrite;
    case WrOpcode::kRdmaRead:
      return WcOpcode::kRdmaRead;
    case WrOpcode::kAtomicCmpSwap:
      return WcOpcode::kCompSwap;
    case WrOpcode::kAtomicFetchAdd:
      return WcOpcode::kFetchAdd;
    case WrOpcode::kFlush:
      return WcOpcode::kFlush;
    case WrOpcode::kAtomicWrite:
      return WcOpcode::kAtomicWrite;
    case WrOpcode::kLocalInvalidate:
      return WcOpcode::kLocalInv;
    case WrOpcode::kBindMw:
      return WcOpcode::kBindMw;
    case WrOpcode::kRegMr:
      return WcOpcode::kRegMr;
    default:
      return WcOpcode::kSend;
  }
}

void count_completion(TransportCounters& counters, WcStatus status, WcOpcode opcode) {
  if (status == WcStatus::kWrFlushErr) {
    ++counters.req_cqe_flush_error;
  } else if (status != WcStatus::kSuccess) {
    ++counters.req_cqe_error;
  } else if (opcode == WcOpcode::kSend) {
    ++counters.rdma_sends;
  }
}

// Ends the oldest send WQE. False: its CQ was full.
bool complete_one(QpContext& qp, TransportEnv& env, WcStatus status) {
  SendQueue& send = qp.queues->send;
  const uint32_t index = send.consumer.load(std::memory_order_relaxed);
  const SendWqe& wqe = send.wqe(index);
  const WcOpcode opcode = completion_opcode(wqe.opcode);
  const bool success = status == WcStatus::kSuccess;
  count_completion(*env.counters, status, opcode);
  bool room = true;
  if ((wqe.flags & kSendSignaled) != 0 || qp.signal_all || !success) {
    Cqe cqe{};
    cqe.wr_id = wqe.wr_id;
    cqe.qp = qp.user;
    cqe.byte_len = success ? wqe.length : 0;
    cqe.qpn = qp.qpn.value();
    cqe.status = status;
    cqe.opcode = opcode;
    cqe.solicited = success ? 0 : 1;
    room = cq_push(env, *qp.send_cq, cqe);
  }
  send.consumer.store(index + 1, std::memory_order_release);
  return room;
}

}  // namespace

void receive_response(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame) {
  const bool acknowledges = frame.info->has(wire::kAckOp);
  if (qp.req.ahead(frame.psn) >= qp.req.outstanding()) {
    env.drops->count(acknowledges ? Drop::kStaleAcknowledge : Drop::kUnexpectedResponse);
    return;
  }
  if (frame.payload_length != 0 && !frame.info->has(wire::kPayload)) {
    env.drops->count(Drop::kPayloadLength);
    return;
  }
  if (acknowledges) {
    receive_acknowledge(qp, env, frame);
  } else {
    receive_answer(qp, env, frame);
  }
}

bool complete_oldest_send(QpContext& qp, TransportEnv& env, WcStatus status) {
  const SendQueue& send = qp.queues->send;
  if (!complete_one(qp, env, status)) return false;
  if (status != WcStatus::kSuccess || !is_reliable(qp.type)) return true;
  // Local operations behind it were executed when the cursor passed them.
  uint32_t oldest = send.consumer.load(std::memory_order_relaxed);
  while (oldest != qp.req.begun_index && is_local_operation(send.wqe(oldest).opcode)) {
    if (!complete_one(qp, env, WcStatus::kSuccess)) return false;
    ++oldest;
  }
  return true;
}

}  // namespace uroce::transport
