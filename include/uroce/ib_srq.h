// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues: receive work requests that several queue pairs take from.
#ifndef UROCE_IB_SRQ_H
#define UROCE_IB_SRQ_H

#include <uroce/ib_cq.h>
#include <uroce/ib_pd.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_recv_wr;
struct ib_xrcd;

enum ib_srq_type { IB_SRQT_BASIC, IB_SRQT_XRC, IB_SRQT_TM };

enum ib_srq_attr_mask {
  IB_SRQ_MAX_WR = 1 << 0,  // resize
  IB_SRQ_LIMIT = 1 << 1,   // arm the event
};

struct ib_srq_attr {
  __u32 max_wr;   // work requests posted and not yet taken, 1 … attrs.max_srq_wr
  __u32 max_sge;  // entries of a scatter list, at most attrs.max_srq_sge
  // An event is raised when fewer than this are left, at most max_wr; 0: none. It is raised once,
  // by the request that is taken next, and reads 0 from then on.
  __u32 srq_limit;
};

struct ib_srq_init_attr {
  // Called with the events of this queue; may be NULL.
  void (*event_handler)(struct ib_event*, void*);
  void* srq_context;
  struct ib_srq_attr attr;
  enum ib_srq_type srq_type;
  struct {
    struct ib_cq* cq;
    union {
      struct {
        struct ib_xrcd* xrcd;
      } xrc;
      struct {
        __u32 max_num_tags;
      } tag_matching;
    };
  } ext;
};

struct ib_srq {
  struct ib_device* device;
  struct ib_pd* pd;
  void (*event_handler)(struct ib_event*, void*);
  void* srq_context;
  enum ib_srq_type srq_type;
  struct {
    struct ib_cq* cq;
    union {
      struct {
        struct ib_xrcd* xrcd;
        __u32 srq_num;  // 24 bits; what initiators call it
      } xrc;
    };
  } ext;
};

// Makes a shared receive queue. attr holds afterwards what was granted. The keys of its scatter
// lists are looked up in `pd`, whatever the domain of the queue pair that takes them. Queue pairs
// that name it at creation belong to the same engine as it does. One of XRC (ib_xrc.h) belongs to
// the domain ext.xrc.xrcd and completes in ext.cq. ERR_PTR: -EOPNOTSUPP: another type; -EINVAL:
// max_wr 0 or too large, max_sge too large, srq_limit above max_wr; XRC without ext.cq or
// ext.xrc.xrcd; -ENOMEM.
struct ib_srq* ib_create_srq(struct ib_pd* pd, struct ib_srq_init_attr* srq_init_attr);

// Does what the mask names, all or nothing. What is posted stays, in order; a smaller max_wr holds
// from now on. -EINVAL: another bit in the mask; max_wr 0, too large, below what is posted or below
// the armed limit; srq_limit above max_wr. -ENOMEM; also when it was resized again and again while
// what was posted before the first time has not been taken yet.
int ib_modify_srq(struct ib_srq* srq, struct ib_srq_attr* srq_attr, enum ib_srq_attr_mask mask);

// Fills srq_attr with what holds now. 0.
int ib_query_srq(struct ib_srq* srq, struct ib_srq_attr* srq_attr);

// -EBUSY while a queue pair uses it. What is posted vanishes without completions. One of XRC may go
// at any time: requests that name it are then refused as invalid, and so is the rest of a message
// that had begun.
int ib_destroy_srq(struct ib_srq* srq);
int ib_destroy_srq_user(struct ib_srq* srq, struct ib_udata* udata);

// Queues the list in order, up to the first request that is refused: that one is then in
// *bad_recv_wr (which may be NULL), those before it are posted. A request belongs to the queue pair
// that takes it, from its first packet on, also if the message fails. -ENOMEM: the queue is full.
// -EINVAL: too many SGEs; more than 2^31 bytes.
int ib_post_srq_recv(struct ib_srq* srq, const struct ib_recv_wr* recv_wr,
                     const struct ib_recv_wr** bad_recv_wr);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_SRQ_H
