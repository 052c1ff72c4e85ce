// SPDX-License-Identifier: BSD-3-Clause
// The state machine of queue pairs as a table: which transitions exist, and which attributes each
// needs and allows for each type (IBA 10.3.1, 11.2.5.2).
#ifndef UROCE_TRANSPORT_QP_STATE_H
#define UROCE_TRANSPORT_QP_STATE_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// Pure. As ib_modify_qp_is_ok: CUR_STATE in the mask with a `current` that is not RTR, RTS, SQD or
// SQE is refused; STATE itself is never required and always allowed.
bool modify_allowed(QpState current, QpState next, QpType type, uint32_t mask);

// Applies a validated modify: attributes first, then the transition with its consequences. 0, or
// -EINVAL when the table refuses; then nothing has changed.
int apply_modify(QpContext& qp, TransportEnv& env, const QpAttributes& attributes, uint32_t mask);

// The attributes as they are now, PSNs and state included.
QpAttributes query_attributes(const QpContext& qp);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_QP_STATE_H
