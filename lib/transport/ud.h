// SPDX-License-Identifier: BSD-3-Clause
// Unreliable datagrams (UD and QP 1): one packet is one message, both ways.
#ifndef UROCE_TRANSPORT_UD_H
#define UROCE_TRANSPORT_UD_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::transport {

// Delivers one datagram (unicast, or this member's copy of a multicast one). ICRC and P_Key are
// good, the queue pair can receive. Checks the Q_Key. What cannot be delivered is a named drop.
void receive_datagram(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                      Time arrival);

// Whether emit_datagram would do something now.
bool datagram_ready(QpContext& qp);

// Fills `slot` with the next posted datagram and completes its WQE. False: nothing was put into
// the slot.
bool emit_datagram(QpContext& qp, TransportEnv& env, TxSlot& slot);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_UD_H
