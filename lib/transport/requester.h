// SPDX-License-Identifier: BSD-3-Clause
// The RC requester: from posted work requests to request packets.
#ifndef UROCE_TRANSPORT_REQUESTER_H
#define UROCE_TRANSPORT_REQUESTER_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"

namespace uroce::transport {

// Whether emit_request would do something now: send a packet or complete a WQE in error. False
// while the window is full, a fence or the READ limit holds, an RNR wait runs, or nothing is
// posted.
bool request_ready(QpContext& qp, Time now);

// Fills `slot` with the next request packet and moves the cursor. False: nothing was put into the
// slot (nothing to send, or the WQE failed locally: its completion is written and the queue pair
// in ERR).
bool emit_request(QpContext& qp, TransportEnv& env, TxSlot& slot);

// The WQE at the cursor ends with `status`, now or when the older ones are complete.
void refuse_request(QpContext& qp, TransportEnv& env, WcStatus status);

// Moves the cursor to the oldest PSN that is not acknowledged, inside its message if need be: that
// packet and all behind it are sent next; of a READ the part not yet received is asked for again.
void go_back(QpContext& qp);

// Moves the cursor to the front: behind the newest packet that was ever sent.
void go_forward(QpContext& qp);

// In SQD: raises SQ_DRAINED, once and only if asked for, when no message is in progress and
// everything sent is acknowledged. Call it on entering SQD (with attributes.sq_draining set) and
// after progress.
void raise_if_drained(QpContext& qp, TransportEnv& env);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_REQUESTER_H
