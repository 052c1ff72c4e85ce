// SPDX-License-Identifier: BSD-3-Clause
// The part of posting that is about requests that send nothing: LOCAL_INV, REG_MR, BIND_MW.
#ifndef UROCE_VERBS_POST_LOCAL_H
#define UROCE_VERBS_POST_LOCAL_H

#include "transport/work_queue.h"
#include "verbs/handles.h"

namespace uroce::verbs {

// Fills in what is particular to these opcodes. -EINVAL, -EFAULT: as ib_post_send() says.
int write_local_operation(const ib_send_wr& wr, transport::SendQueue& queue,
                          transport::SendWqe& wqe);

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_POST_LOCAL_H
