// SPDX-License-Identifier: BSD-3-Clause
// The RC completer: acknowledgements, NAKs and READ responses, and the completions they bring.
#ifndef UROCE_TRANSPORT_COMPLETER_H
#define UROCE_TRANSPORT_COMPLETER_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// Takes a response packet whose ICRC, P_Key, source address and queue pair are good.
void receive_response(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame);

// The oldest send WQE (which exists) ends with `status`: its completion, if it is signalled or
// failed, goes to the send CQ, and its slot back to the poster. False: that CQ is full. Any type of
// queue pair; the cursor is the caller's.
bool complete_oldest_send(QpContext& qp, TransportEnv& env, WcStatus status);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_COMPLETER_H
