// SPDX-License-Identifier: BSD-3-Clause
// The native verbs of uroce: RDMA verbs in user space under the kernel's names and signatures.
//
// Names, structures and numbers are those of the kernel's verbs, so code written against one reads
// like code written against the other, and nothing collides with <infiniband/verbs.h> (ibv_*),
// which may be included in the same file. Usable from C11 and C++20.
//
// Errors. Calls that return int return 0 (or a count) and a negative errno otherwise. Calls that
// return a pointer never return NULL: test with IS_ERR(), read the negative errno with PTR_ERR().
//
// Threads. Every call may be made from any thread. In the single-threaded mode of a device (inline
// exclusive, see uroce.h) all calls, and the polling, belong to the one thread that drives it, and
// no call takes a lock. Post, poll and req_notify touch rings in memory only: no system call, no
// wait. All others are control calls: they may wait for the engine that owns a queue, for at most a
// few seconds, and then fail with -ETIMEDOUT; never call them while holding what a handler needs.
//
// Handlers (completion and event handlers) run on the polling thread in inline mode and on an event
// thread in worker mode, never with a lock held, so a handler may call any verb. Destroying an
// object waits until its handlers have returned, unless it is called from the handler itself.
//
// Ownership. Objects are made and destroyed by verbs only; their public members are read-only for
// the application unless said otherwise. An object that others are built on refuses to go: -EBUSY.
//
// Where the fields of the kernel's structures mean nothing here (LIDs, alternate paths) they exist,
// are ignored on input and 0 on output.
#ifndef UROCE_IB_VERBS_H
#define UROCE_IB_VERBS_H

#include <uroce/ib_ah.h>
#include <uroce/ib_client.h>
#include <uroce/ib_cq.h>
#include <uroce/ib_device.h>
#include <uroce/ib_device_ops.h>
#include <uroce/ib_dma.h>
#include <uroce/ib_grh.h>
#include <uroce/ib_mr.h>
#include <uroce/ib_multicast.h>
#include <uroce/ib_netdev.h>
#include <uroce/ib_pd.h>
#include <uroce/ib_port.h>
#include <uroce/ib_qp.h>
#include <uroce/ib_rate.h>
#include <uroce/ib_signature.h>
#include <uroce/ib_srq.h>
#include <uroce/ib_stats.h>
#include <uroce/ib_types.h>
#include <uroce/ib_udata.h>
#include <uroce/ib_xrc.h>

#endif  // UROCE_IB_VERBS_H
