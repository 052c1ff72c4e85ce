// SPDX-License-Identifier: BSD-3-Clause
// SEND with invalidate at the responder: the message takes back a key of ours.
#ifndef UROCE_TRANSPORT_REMOTE_INVALIDATE_H
#define UROCE_TRANSPORT_REMOTE_INVALIDATE_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/parse.h"

namespace uroce::transport {

// Behind the last byte of the message and the PSN, before its receive completion, which is seen
// only when no engine uses any more what the key stood for. False: the key could not be
// invalidated. Then the message is acknowledged if asked for, its receive WQE ends with
// REM_INV_REQ_ERR and the queue pair is in ERR: no NAK, the peer has done nothing wrong on the
// wire.
bool invalidate_for_peer(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REMOTE_INVALIDATE_H
