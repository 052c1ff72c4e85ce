// SPDX-License-Identifier: BSD-3-Clause
// The RC responder: judges a request without side effects, then acts, then owes an answer.
#ifndef UROCE_TRANSPORT_RESPONDER_H
#define UROCE_TRANSPORT_RESPONDER_H

#include "transport/judgement.h"
#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::transport {

// Takes a request packet whose ICRC, P_Key, source address and queue pair are good.
void receive_request(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                     ReceiveTime arrival);

// What RC and UC have in common: one packet of a SEND or WRITE that is the next one of its message.
// Judged without side effects; then, with kTake, executed: the bytes, the PSN, the completion of
// the message. take_message is false when the L_Key of the receive WQE is bad. A full CQ has put
// the queue pair into ERR.
Plan judge_message(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame);
bool take_message(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                  ReceiveTime arrival, const Plan& plan);

// The time of the next part of a FLUSH has come (qp.resp.flush.next_part).
void continue_flush(QpContext& qp, TransportEnv& env);

// Whether emit_response would put a packet out.
bool response_ready(const QpContext& qp);

// Fills `slot` with the next ACK, NAK or READ response packet. False: nothing is owed, or what came
// next is not said any more (response_ready tells).
bool emit_response(QpContext& qp, TransportEnv& env, TxSlot& slot);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RESPONDER_H
