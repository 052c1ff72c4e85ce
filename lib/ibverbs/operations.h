// SPDX-License-Identifier: BSD-3-Clause
// The verbs that programs call through the tables of an opened device, not by a symbol.
#ifndef UROCE_IBVERBS_OPERATIONS_H
#define UROCE_IBVERBS_OPERATIONS_H

#include "ibverbs/handles.h"

namespace uroce::ibverbs {

// Fills the tables: what is not in there stays nullptr, and rdma-core's inline calls answer
// EOPNOTSUPP for it.
void install_operations(verbs_context& verbs);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_OPERATIONS_H
