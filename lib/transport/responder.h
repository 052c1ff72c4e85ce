// SPDX-License-Identifier: BSD-3-Clause
// The RC responder: judges a request without side effects, then acts, then owes an answer.
#ifndef UROCE_TRANSPORT_RESPONDER_H
#define UROCE_TRANSPORT_RESPONDER_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::transport {

// Takes a request packet whose ICRC, P_Key, source address and queue pair are good.
void receive_request(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                     Time arrival);

// Whether emit_response would put a packet out.
bool response_ready(const QpContext& qp);

// Fills `slot` with the next ACK, NAK or READ response packet. False: nothing is owed.
bool emit_response(QpContext& qp, TransportEnv& env, TxSlot& slot);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RESPONDER_H
