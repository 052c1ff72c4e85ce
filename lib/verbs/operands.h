// SPDX-License-Identifier: BSD-3-Clause
// What a send work request of a connection names beside its data: the operands of its opcode.
#ifndef UROCE_VERBS_OPERANDS_H
#define UROCE_VERBS_OPERANDS_H

#include <cstdint>

#include "transport/work_queue.h"
#include "uroce/ib_qp.h"

namespace uroce::verbs {

// Checks the operands of an atomic, ATOMIC WRITE or FLUSH and writes them into the WQE. `length`
// (bytes): on entry that of the gather list or inline data, afterwards that of the message, which a
// FLUSH names itself. 0 or -EINVAL.
int write_operands(const ib_send_wr& wr, uint64_t& length, transport::SendWqe& wqe);

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_OPERANDS_H
