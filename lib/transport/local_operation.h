// SPDX-License-Identifier: BSD-3-Clause
// Work requests that are executed here and send nothing: LOCAL_INV, REG_MR, BIND_MW.
#ifndef UROCE_TRANSPORT_LOCAL_OPERATION_H
#define UROCE_TRANSPORT_LOCAL_OPERATION_H

#include "transport/qp_context.h"
#include "transport/transport_env.h"

namespace uroce::transport {

// Whether the local operation at the cursor, not begun, may be executed: LOCAL_INV waits until
// every older request is complete.
bool local_operation_ready(const QpContext& qp, const SendWqe& wqe);

// Moves the cursor, which stands at a local operation, past it. It is executed the first time only;
// when a retry leads past it again it has been. It completes when all older requests have. One that
// must wait for other engines leaves the cursor where it is; a failure is that of any request.
void pass_local_operation(QpContext& qp, TransportEnv& env);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_LOCAL_OPERATION_H
