// SPDX-License-Identifier: BSD-3-Clause
// Unreliable connections: SENDs and WRITEs in packets of the path MTU, and nobody answers.
#ifndef UROCE_TRANSPORT_UC_H
#define UROCE_TRANSPORT_UC_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::transport {

// Takes a packet whose ICRC, P_Key, source address and queue pair are good. What does not fit is a
// named drop, and so is the rest of its message; the queue pair goes on.
void receive_unreliable(QpContext& qp, TransportEnv& env, const wire::ParsedFrame& frame,
                        ReceiveTime arrival);

// Whether emit_unreliable would do something now. While the send queue drains, the message that was
// begun is finished.
inline bool unreliable_ready(QpContext& qp, Time now) {
  if (qp.state == QpState::kSqd) return qp.req.next_packet != 0;
  if (qp.req.keys_until != kNever && now < qp.req.keys_until) return false;
  return qp.state == QpState::kRts && qp.queues->send.posted(qp.req.next_index);
}

// Fills `slot` with the next packet; with its last one a message completes. False: nothing was put
// into the slot (nothing to send, or the WQE failed locally: its completion is written and the
// queue pair in SQE).
bool emit_unreliable(QpContext& qp, TransportEnv& env, TxSlot& slot);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_UC_H
