// SPDX-License-Identifier: BSD-3-Clause
// The tables of an opened device.
#include "ibverbs/operations.h"

namespace uroce::ibverbs {

void install_operations(verbs_context& verbs) {
  verbs.sz = sizeof verbs;
  verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

}  // namespace uroce::ibverbs
