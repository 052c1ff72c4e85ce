// SPDX-License-Identifier: BSD-3-Clause
// Extended reliable connections: one connection to many shared receive queues.
//
// An initiator (IB_QPT_XRC_INI, made like an RC queue pair, without receives) is connected to a
// target (IB_QPT_XRC_TGT), which receives only. The target has no receive queue, no CQ and no
// protection domain: each request names a shared receive queue (type IB_SRQT_XRC) of the target's
// XRC domain, takes a receive there and completes in the CQ of that queue; the keys of the request
// are those of the protection domain of that queue. So a host with n processes needs one connection
// from each peer and n queues, not n connections.
#ifndef UROCE_IB_XRC_H
#define UROCE_IB_XRC_H

#include <uroce/ib_qp.h>
#include <uroce/ib_srq.h>

#ifdef __cplusplus
extern "C" {
#endif

// What target queue pairs and the shared receive queues that may be named to them belong to.
struct ib_xrcd {
  struct ib_device* device;
};

// ERR_PTR: -ENOMEM.
struct ib_xrcd* ib_alloc_xrcd(struct ib_device* device);

// 0, or -EBUSY while a target queue pair or a shared receive queue is in it.
int ib_dealloc_xrcd(struct ib_xrcd* xrcd);

// A send work request of an initiator: any of the forms of RC, and the queue that it is for. READs
// and atomics too name a queue, for the sake of its protection domain.
struct ib_xrc_wr {
  union {
    struct ib_send_wr wr;
    struct ib_rdma_wr rdma;
    struct ib_atomic_wr atomic;
    struct ib_flush_wr flush;
  };
  __u32 remote_srqn;  // ext.xrc.srq_num of the queue at the other end; 24 bits
};
static inline const struct ib_xrc_wr* xrc_wr(const struct ib_send_wr* wr) {
  return (const struct ib_xrc_wr*)(const void*)wr;
}

// A target is shared: what ib_create_qp() gives is the first of any number of handles, and each of
// them may modify, query and be given all its events. The `qp` of a receive completion is none of
// them, but the queue pair itself, which is the real_qp of them all.
struct ib_qp_open_attr {
  // Called with the events of the queue pair, as long as this handle is open; may be NULL.
  void (*event_handler)(struct ib_event*, void*);
  void* qp_context;
  __u32 qp_num;
  enum ib_qp_type qp_type;
};

// Another handle of a target. ERR_PTR: -EINVAL: qp_type is not IB_QPT_XRC_TGT, or the domain has no
// target with that qp_num; -ENOMEM.
struct ib_qp* ib_open_qp(struct ib_xrcd* xrcd, struct ib_qp_open_attr* qp_open_attr);

// Closes a handle of a target, as ib_destroy_qp() does; the queue pair goes with the last one.
// -EINVAL: another queue pair, which stays.
int ib_close_qp(struct ib_qp* qp);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_XRC_H
