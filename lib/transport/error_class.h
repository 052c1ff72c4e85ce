// SPDX-License-Identifier: BSD-3-Clause
// Why and how a queue pair goes to the error state: the failed WQE first, then everything else
// flushed in order, on both queues.
#ifndef UROCE_TRANSPORT_ERROR_CLASS_H
#define UROCE_TRANSPORT_ERROR_CLASS_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// The oldest incomplete send WQE ends with `status`; the queue pair goes to ERR (UD and UC: to
// SQE, see the conformance table) and everything behind it is flushed.
void fail_send(QpContext& qp, TransportEnv& env, WcStatus status);

// The retries of `status` (kRetryExcErr, kRnrRetryExcErr) are used up, with `psn` unanswered or
// refused last: one event for the log, then fail_send.
void give_up(QpContext& qp, TransportEnv& env, WcStatus status, Psn psn);

// The responder refuses the request that has come, for good: the held receive WQE ends with
// `status`, or, when none is held, fail_responder(). The NAK, if any, has been queued before and
// still goes out.
void fail_receive(QpContext& qp, TransportEnv& env, WcStatus status);

// The responder refuses a request that no receive WQE belongs to: an event says so (IBA C9-222.1;
// QP_ACCESS_ERR with kRemAccessErr, else QP_REQ_ERR), and the queue pair goes to ERR.
void fail_responder(QpContext& qp, TransportEnv& env, WcStatus status);

// The receive WQE at the head of the queue (posted, or taken from a shared receive queue) ends with
// `status`; the queue pair goes on, but for a full CQ.
void end_receive(QpContext& qp, TransportEnv& env, WcStatus status);

// Something of the queue pair's own is past repair (its CQ is full): event QP_FATAL, then as below.
void enter_error(QpContext& qp, TransportEnv& env);

// Moves the queue pair to ERR and flushes both queues; what it still owed its peer is dropped. No
// event, but for LAST_WQE_REACHED where receives are shared.
void move_to_error(QpContext& qp, TransportEnv& env);

// In ERR, or SQE: flushes what was posted since.
void flush(QpContext& qp, TransportEnv& env);

// Empties both queues without completions (to RESET) and sets all transport state back.
void reset_queues(QpContext& qp);

// Writes a state into the context and the word that posting threads read.
void set_state(QpContext& qp, QpState state);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_ERROR_CLASS_H
