// SPDX-License-Identifier: BSD-3-Clause
// The operands of a FLUSH. Those of the other opcodes: device/post.h.
#ifndef UROCE_VERBS_OPERANDS_H
#define UROCE_VERBS_OPERANDS_H

#include <cstdint>

#include "transport/work_queue.h"
#include "uroce/ib_qp.h"

namespace uroce::verbs {

// Checks them and writes them into the WQE. `length` (bytes): on entry that of the gather list, 0;
// afterwards that of the message, which a FLUSH names itself. 0 or -EINVAL.
int write_flush(const ib_flush_wr& wr, uint64_t& length, transport::SendWqe& wqe);

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_OPERANDS_H
