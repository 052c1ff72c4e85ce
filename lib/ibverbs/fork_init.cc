// SPDX-License-Identifier: BSD-3-Clause
// fork() needs no preparation: the CPU copies, so no page is pinned, and copy-on-write separates
// parent and child as it does all memory of a process.
#include "ibverbs/undeclared.h"

int ibv_fork_init(void) { return 0; }

ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

int ibv_dontfork_range(void* /*base*/, size_t /*size*/) { return 0; }

int ibv_dofork_range(void* /*base*/, size_t /*size*/) { return 0; }
