// SPDX-License-Identifier: BSD-3-Clause
// The ways into the error states, and out of them by RESET.
//
// The state changes first, then the queues are flushed: a work request posted meanwhile is either
// found by the flush or rings a doorbell that leads to flush(). Flushing goes on when a CQ is
// full, so that the slots come back; the CQ's overrun is its own event.
#include "transport/error_class.h"

#include "transport/completer.h"
#include "transport/recovery.h"
#include "transport/reorder.h"
#include "transport/retry.h"

namespace uroce::transport {
namespace {

// Ends the receive WQE at the head of the queue. False: the CQ is full.
bool complete_oldest_receive(QpContext& qp, TransportEnv& env, WcStatus status) {
  ReceiveQueue& recv = qp.queues->recv;
  const uint32_t index = recv.consumer.load(std::memory_order_relaxed);
  Cqe cqe{};
  cqe.wr_id = recv.wqe(index).wr_id;
  cqe.qp = qp.user;
  cqe.qpn = qp.qpn.value();
  cqe.status = status;
  cqe.opcode = WcOpcode::kRecv;
  cqe.solicited = 1;
  if (status == WcStatus::kWrFlushErr) {
    ++env.counters->resp_cqe_flush_error;
  } else {
    ++env.counters->resp_cqe_error;
  }
  const bool room = cq_push(env, *qp.recv_cq, cqe);
  recv.consumer.store(index + 1, std::memory_order_release);
  return room;
}

// False: the CQ was full; all slots have come back all the same.
bool flush_send(QpContext& qp, TransportEnv& env) {
  SendQueue& send = qp.queues->send;
  uint32_t index = send.consumer.load(std::memory_order_relaxed);
  bool room = true;
  while (send.posted(index)) {
    room = complete_oldest_send(qp, env, WcStatus::kWrFlushErr) && room;
    ++index;
  }
  qp.req.next_index = qp.req.begun_index = index;
  qp.req.next_packet = 0;
  return room;
}

void flush_receive(QpContext& qp, TransportEnv& env) {
  ReceiveQueue& recv = qp.queues->recv;
  while (recv.posted(recv.consumer.load(std::memory_order_relaxed))) {
    complete_oldest_receive(qp, env, WcStatus::kWrFlushErr);
  }
}

// Nothing is outstanding any more: no timer runs, no response is waited for.
void stop_requester(QpContext& qp) {
  RequesterState& req = qp.req;
  if (is_reliable(qp.type)) req.next_psn = req.max_psn;  // the cursor may have gone back
  req.max_psn = req.unacked_psn = req.next_psn;
  restart_timers(req);
  end_recovery(req);
  req.rnr_until = kNever;
  req.keys_until = kNever;
}

void to_error(QpContext& qp, TransportEnv& env) {
  const bool first = qp.state != QpState::kErr;
  set_state(qp, QpState::kErr);
  stop_requester(qp);
  forget_kept(qp, env);
  qp.resp.message = MessageInProgress::kNone;
  qp.resp.recv_wqe_held = false;
  flush(qp, env);
  // What the shared queue holds is others' work: only this tells that no completion follows.
  if (first && (qp.srq != nullptr || qp.type == QpType::kXrcTgt)) {
    env.raise(qp.events, EventType::kQpLastWqeReached, qp.user);
  }
}

}  // namespace

void fail_send(QpContext& qp, TransportEnv& env, WcStatus status) {
  SendQueue& send = qp.queues->send;
  bool room = true;
  if (send.posted(send.consumer.load(std::memory_order_relaxed))) {
    room = complete_oldest_send(qp, env, status);
  }
  if (qp.type != QpType::kUd && qp.type != QpType::kGsi && qp.type != QpType::kUc) {
    return move_to_error(qp, env);
  }
  if (!room) return enter_error(qp, env);
  // Nobody was promised a message that nothing acknowledges: receiving goes on.
  set_state(qp, QpState::kSqe);
  stop_requester(qp);
  flush(qp, env);
}

void give_up(QpContext& qp, TransportEnv& env, WcStatus status, Psn psn) {
  const QpAttributes& attributes = qp.attributes;
  const bool not_ready = status == WcStatus::kRnrRetryExcErr;
  ++(not_ready ? env.counters->rnr_nak_retry_err : env.counters->retry_exceeded_err);
  const bool noted = env.events.note({.when = env.now,
                                      .peer = attributes.av.dgid,
                                      .qpn = qp.qpn,
                                      .peer_qpn = attributes.dest_qpn,
                                      .psn = psn,
                                      .not_ready = not_ready,
                                      .retry_count = attributes.retry_count,
                                      .rnr_retry = attributes.rnr_retry,
                                      .timeout = attributes.timeout});
  if (!noted) ++env.counters->events_lost;
  fail_send(qp, env, status);
}

void fail_receive(QpContext& qp, TransportEnv& env, WcStatus status) {
  if (!qp.resp.recv_wqe_held) return fail_responder(qp, env, status);
  complete_oldest_receive(qp, env, status);
  to_error(qp, env);
}

void fail_responder(QpContext& qp, TransportEnv& env, WcStatus status) {
  const bool access = status == WcStatus::kRemAccessErr;
  env.raise(qp.events, access ? EventType::kQpAccessErr : EventType::kQpReqErr, qp.user);
  to_error(qp, env);
}

void end_receive(QpContext& qp, TransportEnv& env, WcStatus status) {
  qp.resp.recv_wqe_held = false;
  if (!complete_oldest_receive(qp, env, status)) enter_error(qp, env);
}

void enter_error(QpContext& qp, TransportEnv& env) {
  if (qp.state != QpState::kErr) env.raise(qp.events, EventType::kQpFatal, qp.user);
  move_to_error(qp, env);
}

void move_to_error(QpContext& qp, TransportEnv& env) {
  qp.resp.responses_head = qp.resp.responses_tail;  // what was still owed is dropped
  to_error(qp, env);
}

void flush(QpContext& qp, TransportEnv& env) {
  const bool room = flush_send(qp, env);
  if (qp.state == QpState::kErr) {
    flush_receive(qp, env);
  } else if (!room) {
    enter_error(qp, env);
  }
}

void reset_queues(QpContext& qp) {
  QpQueues& queues = *qp.queues;
  const uint32_t posted = queues.send.producer.load(std::memory_order_acquire);
  queues.send.consumer.store(posted, std::memory_order_release);
  queues.recv.consumer.store(queues.recv.producer.load(std::memory_order_acquire),
                             std::memory_order_release);
  qp.req = RequesterState{};
  qp.req.next_index = qp.req.begun_index = posted;
  qp.resp = ResponderState{};
  if (queues.replay != nullptr) {
    for (uint32_t i = 0; i < kReadAtomicMax; ++i) queues.replay[i] = ReplaySlot{};
  }
  qp.attributes.sq_draining = false;
}

void set_state(QpContext& qp, QpState state) {
  qp.state = state;
  qp.queues->state_word.store(state, std::memory_order_release);
  // Against a post at the same moment: either the flush that follows sees the request, or the
  // poster, behind a fence of its own, sees ERR and rings.
  if (state == QpState::kErr) std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace uroce::transport
