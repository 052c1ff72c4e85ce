// SPDX-License-Identifier: BSD-3-Clause
// XRC domains, and target queue pairs with their handles: what queue pairs need to know of them.
#ifndef UROCE_IBVERBS_XRC_H
#define UROCE_IBVERBS_XRC_H

#include "ibverbs/handles.h"
#include "transport/event.h"

namespace uroce::ibverbs {

// The queue pair behind a handle: of an XRC target another one, else itself.
inline Qp& real_of(ibv_qp& qp) { return of(&qp).real != nullptr ? *of(&qp).real : of(&qp); }

// A target, and the first handle of it; `init` is checked. nullptr with errno.
Qp* create_target(ibv_context* context, ibv_qp_init_attr_ex& init);
// Ends a handle, and with the last one the target. A positive errno. EBUSY: that is under way.
int close_target(ibv_qp& qp);

// Who has a target open is told of its events.
void deliver_to_handles(const Qp& target, transport::EventType type);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_XRC_H
