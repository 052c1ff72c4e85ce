// SPDX-License-Identifier: BSD-3-Clause
// XRC target queue pairs of the native face: one real queue pair, which no application holds, and
// the handles onto it.
#ifndef UROCE_VERBS_XRC_H
#define UROCE_VERBS_XRC_H

#include "transport/event.h"
#include "verbs/handles.h"

namespace uroce::verbs {

// Makes a target and its first handle. init.xrcd is set. As ib_create_qp().
ib_qp* create_target(ib_qp_init_attr& init);

inline bool is_target_handle(const ib_qp& qp) { return qp.real_qp != &qp; }

// Closes a handle, with the last one the target. 0, or a negative errno and nothing has changed.
int close_handle(ib_qp& qp);

// An event of a target: to all who have it open.
void deliver_to_handles(const ib_qp& target, transport::EventType type);

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_XRC_H
