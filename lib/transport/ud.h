// SPDX-License-Identifier: BSD-3-Clause
// Unreliable datagrams (UD and QP 1): one packet is one message, both ways.
#ifndef UROCE_TRANSPORT_UD_H
#define UROCE_TRANSPORT_UD_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::transport {

// Delivers one datagram (unicast, or this member's copy of a multicast one). ICRC and P_Key are
// good, the queue pair can receive. Checks the Q_Key. What cannot be delivered is a named drop.
void receive_datagram(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                      ReceiveTime arrival);

// Whether a datagram waits to be sent.
inline bool datagram_ready(QpContext& qp) {
  return qp.state == QpState::kRts && qp.queues->send.posted(qp.req.next_index);
}

// Fills slots with the posted datagrams, from the first of either on, and completes their WQEs.
// `turn`: how many WQEs may be taken, and how many of these are left; those that fail, and fill no
// slot, count. Returns how many slots are filled.
size_t emit_datagrams(QpContext& qp, TransportEnv& env, std::span<TxSlot> slots, uint32_t& turn);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_UD_H
