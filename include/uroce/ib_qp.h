// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs and work requests.
#ifndef UROCE_IB_QP_H
#define UROCE_IB_QP_H

#include <uroce/ib_ah.h>
#include <uroce/ib_cq.h>
#include <uroce/ib_mr.h>
#include <uroce/ib_pd.h>
#include <uroce/ib_srq.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_rwq_ind_table;
struct ib_xrcd;
struct net_device;

enum ib_qp_type {
  IB_QPT_SMI = 0,
  IB_QPT_GSI = 1,
  IB_QPT_RC = 2,
  IB_QPT_UC = 3,
  IB_QPT_UD = 4,
  IB_QPT_RAW_IPV6 = 5,
  IB_QPT_RAW_ETHERTYPE = 6,
  IB_QPT_RAW_PACKET = 8,
  IB_QPT_XRC_INI = 9,
  IB_QPT_XRC_TGT = 10,
  IB_QPT_MAX = 11,
  IB_QPT_DRIVER = 0xff,
};

enum ib_qp_state {
  IB_QPS_RESET,
  IB_QPS_INIT,
  IB_QPS_RTR,
  IB_QPS_RTS,
  IB_QPS_SQD,
  IB_QPS_SQE,
  IB_QPS_ERR,
};

enum ib_mig_state { IB_MIG_MIGRATED, IB_MIG_REARM, IB_MIG_ARMED };

enum ib_sig_type {
  IB_SIGNAL_ALL_WR,  // every send work request completes with an entry
  IB_SIGNAL_REQ_WR,  // only those with IB_SEND_SIGNALED, and those that fail
};

enum ib_qp_create_flags {
  IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK = 1 << 1,
};

enum ib_qp_attr_mask {
  IB_QP_STATE = 1 << 0,
  IB_QP_CUR_STATE = 1 << 1,
  IB_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
  IB_QP_ACCESS_FLAGS = 1 << 3,
  IB_QP_PKEY_INDEX = 1 << 4,
  IB_QP_PORT = 1 << 5,
  IB_QP_QKEY = 1 << 6,
  IB_QP_AV = 1 << 7,
  IB_QP_PATH_MTU = 1 << 8,
  IB_QP_TIMEOUT = 1 << 9,
  IB_QP_RETRY_CNT = 1 << 10,
  IB_QP_RNR_RETRY = 1 << 11,
  IB_QP_RQ_PSN = 1 << 12,
  IB_QP_MAX_QP_RD_ATOMIC = 1 << 13,
  IB_QP_ALT_PATH = 1 << 14,
  IB_QP_MIN_RNR_TIMER = 1 << 15,
  IB_QP_SQ_PSN = 1 << 16,
  IB_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
  IB_QP_PATH_MIG_STATE = 1 << 18,
  IB_QP_CAP = 1 << 19,
  IB_QP_DEST_QPN = 1 << 20,
  IB_QP_RATE_LIMIT = 1 << 25,
};

// Wanted at creation, granted afterwards (never less).
struct ib_qp_cap {
  __u32 max_send_wr;      // send work requests posted and not yet completed
  __u32 max_recv_wr;      // receive work requests posted and not yet completed
  __u32 max_send_sge;     // entries of a gather list
  __u32 max_recv_sge;     // entries of a scatter list
  __u32 max_inline_data;  // bytes that IB_SEND_INLINE can carry
  __u32 max_rdma_ctxs;
};

struct ib_qp_init_attr {
  // Called with the events of this queue pair; may be NULL.
  void (*event_handler)(struct ib_event*, void*);
  void* qp_context;
  struct ib_cq* send_cq;
  struct ib_cq* recv_cq;
  struct ib_srq* srq;
  struct ib_xrcd* xrcd;
  struct ib_qp_cap cap;
  enum ib_sig_type sq_sig_type;
  enum ib_qp_type qp_type;
  __u32 create_flags;
  __u32 port_num;
  struct ib_rwq_ind_table* rwq_ind_tbl;
  __u32 source_qpn;
};

struct ib_qp_attr {
  enum ib_qp_state qp_state;
  enum ib_qp_state cur_qp_state;
  enum ib_mtu path_mtu;
  enum ib_mig_state path_mig_state;
  __u32 qkey;
  __u32 rq_psn;  // the next PSN expected; 24 bits, more is cut off
  __u32 sq_psn;  // the next PSN to send; 24 bits, more is cut off
  __u32 dest_qp_num;
  int qp_access_flags;  // what requests of the peer may do
  struct ib_qp_cap cap;
  struct rdma_ah_attr ah_attr;
  struct rdma_ah_attr alt_ah_attr;
  __u16 pkey_index;
  __u16 alt_pkey_index;
  __u8 en_sqd_async_notify;
  __u8 sq_draining;
  __u8 max_rd_atomic;       // READs, atomics, FLUSHes outstanding as requester, at most
                            // attrs.max_qp_init_rd_atom
  __u8 max_dest_rd_atomic;  // of them answered at once, at most attrs.max_qp_rd_atom
  __u8 min_rnr_timer;       // RNR code 0 … 31 that we send
  __u32 port_num;
  __u8 timeout;    // ACK timeout 4.096 us * 2^n, 0 … 31; 0: wait for ever
  __u8 retry_cnt;  // 0 … 7
  __u8 rnr_retry;  // 0 … 7, 7: for ever
  __u32 alt_port_num;
  __u8 alt_timeout;
  __u32 rate_limit;
  struct net_device* xmit_slave;
};

struct ib_qp {
  struct ib_device* device;
  struct ib_pd* pd;
  struct ib_cq* send_cq;
  struct ib_cq* recv_cq;
  struct ib_srq* srq;
  void (*event_handler)(struct ib_event*, void*);
  void* qp_context;
  __u32 qp_num;  // 24 bits
  enum ib_qp_type qp_type;
  __u32 port;
  struct ib_xrcd* xrcd;   // of an XRC target
  struct ib_qp* real_qp;  // an XRC target's handle: the queue pair that it stands for; else itself
};

// Makes a queue pair in state RESET; init_attr->cap then holds what was granted. Types RC, UC,
// UD and XRC (ib_xrc.h). ERR_PTR: -EOPNOTSUPP: another type, or a create flag
// (BLOCK_MULTICAST_LOOPBACK is taken on UD only); -EINVAL: a CQ missing, a CQ or srq of another
// device, a capability above the device's limits, an srq on GSI; -ENOMEM; -ETIMEDOUT.
//
// Of an XRC_INI recv_cq and the capabilities for receiving are not looked at; an srq is -EINVAL. Of
// an XRC_TGT only xrcd, event_handler and qp_context are looked at; pd may be NULL. -EINVAL: an
// XRC_TGT without xrcd, an xrcd with another type.
//
// With an srq the queue pair has no receive queue: max_recv_wr and max_recv_sge are not looked at
// and 0 afterwards. In the error state it flushes the request of the message it was receiving, and
// then IB_EVENT_QP_LAST_WQE_REACHED says that no more receives complete.
struct ib_qp* ib_create_qp(struct ib_pd* pd, struct ib_qp_init_attr* init_attr);

// Sets the attributes named in the mask and moves to qp_state if IB_QP_STATE is among them. What
// may and must be in the mask: ib_modify_qp_is_ok(), asked also when the state stays. A failure
// has changed nothing. The MAC address of an address vector is found as by rdma_create_ah().
//
// -EOPNOTSUPP: a mask bit above 20. -EINVAL, -ENODATA, -ETIMEDOUT, -EHOSTUNREACH: the address
// vector, as for rdma_create_ah(). -EINVAL: ALT_PATH; cur_qp_state that is not the state; a value
// out of range (port, pkey_index, timeout, retry_cnt, rnr_retry, min_rnr_timer, rd_atomic); access
// rights on UD; path_mtu above the port's; a transition or mask that the table does not have.
int ib_modify_qp(struct ib_qp* qp, struct ib_qp_attr* qp_attr, int qp_attr_mask);

// The form of unprivileged users: the same, but the MAC address of an address vector is always
// found by the library, whatever ah_attr says, and a Q_Key with bit 31 set is -EPERM unless the
// device was configured with privileged_qkey.
int ib_modify_qp_with_udata(struct ib_qp* qp, struct ib_qp_attr* attr, int attr_mask,
                            struct ib_udata* udata);

// Fills both structures with what holds now, whatever the mask.
int ib_query_qp(struct ib_qp* qp, struct ib_qp_attr* qp_attr, int qp_attr_mask,
                struct ib_qp_init_attr* qp_init_attr);

// -EBUSY while it is a member of a group, and nothing has happened. 0: no engine touches it any
// more. Work still queued vanishes without completions, and completions not yet polled are taken
// out of the CQs.
int ib_destroy_qp(struct ib_qp* qp);
int ib_destroy_qp_user(struct ib_qp* qp, struct ib_udata* udata);

// Whether a modify is legal: pure, from the state table of the verbs.
bool ib_modify_qp_is_ok(enum ib_qp_state cur_state, enum ib_qp_state next_state,
                        enum ib_qp_type type, enum ib_qp_attr_mask mask);

// A piece of memory in a gather or scatter list.
struct ib_sge {
  __u64 addr;
  __u32 length;  // bytes
  __u32 lkey;
};

enum ib_wr_opcode {
  IB_WR_RDMA_WRITE = 0,
  IB_WR_RDMA_WRITE_WITH_IMM = 1,
  IB_WR_SEND = 2,
  IB_WR_SEND_WITH_IMM = 3,
  IB_WR_RDMA_READ = 4,
  IB_WR_ATOMIC_CMP_AND_SWP = 5,
  IB_WR_ATOMIC_FETCH_AND_ADD = 6,
  IB_WR_LOCAL_INV = 7,
  IB_WR_BIND_MW = 8,
  IB_WR_SEND_WITH_INV = 9,
  IB_WR_LSO = 10,
  IB_WR_RDMA_READ_WITH_INV = 11,
  IB_WR_FLUSH = 14,
  IB_WR_ATOMIC_WRITE = 15,
  IB_WR_REG_MR = 0x20,
};

enum ib_send_flags {
  IB_SEND_FENCE = 1,
  IB_SEND_SIGNALED = 1 << 1,
  IB_SEND_SOLICITED = 1 << 2,
  IB_SEND_INLINE = 1 << 3,  // the data is copied during the call; the lkeys are not looked at
  IB_SEND_IP_CSUM = 1 << 4,
};

// IB_WR_LOCAL_INV ends the validity of the key ex.invalidate_rkey here, IB_WR_SEND_WITH_INV at the
// peer: a region of ib_alloc_mr() without windows, or a type 2 window of that queue pair. LOCAL_INV
// begins when every request before it has completed. When either completes (at the peer: its
// receive completion) no engine uses any more what the key stood for.
//
// A send work request. RDMA requests and ATOMIC WRITE are the first member of an ib_rdma_wr,
// atomics of an ib_atomic_wr, FLUSH of an ib_flush_wr, REG_MR of an ib_reg_wr, BIND_MW of an
// ib_bind_mw_wr, those of UD queue pairs of an ib_ud_wr. The list and all that it points to is read
// during the call only, except the memory that the gather list names, which stays in use until the
// request has completed.
struct ib_send_wr {
  struct ib_send_wr* next;
  union {
    __u64 wr_id;
    struct ib_cqe* wr_cqe;
  };
  struct ib_sge* sg_list;
  int num_sge;
  enum ib_wr_opcode opcode;
  int send_flags;
  union {
    __be32 imm_data;  // carried as it is
    __u32 invalidate_rkey;
  } ex;
};

struct ib_rdma_wr {
  struct ib_send_wr wr;
  __u64 remote_addr;
  __u32 rkey;
};

// Atomics: the gather list names eight bytes, which take the value that the remote word held
// before. FETCH_AND_ADD adds compare_add; CMP_AND_SWP stores swap if the word equals compare_add.
struct ib_atomic_wr {
  struct ib_send_wr wr;
  __u64 remote_addr;  // of a word: a multiple of 8
  __u64 compare_add;  // operands are numbers in host order
  __u64 swap;
  __u64 compare_add_mask;  // not looked at: there are no masked atomics
  __u64 swap_mask;         // not looked at
  __u32 rkey;
};

enum ib_placement_type {
  IB_FLUSH_GLOBAL = 1 << 0,      // visible to everybody
  IB_FLUSH_PERSISTENT = 1 << 1,  // written back to memory
};
enum ib_selectivity_level {
  IB_FLUSH_RANGE,  // remote_addr and length
  IB_FLUSH_MR,     // all that the rkey opens
};

// FLUSH: what earlier requests of this queue pair wrote there is as `type` says when it completes.
struct ib_flush_wr {
  struct ib_send_wr wr;  // without gather list
  __u64 remote_addr;
  __u32 length;  // bytes, at most 2^31
  __u32 rkey;
  __u32 type;   // of enum ib_placement_type, OR-ed
  __u32 level;  // enum ib_selectivity_level
};

struct ib_ud_wr {
  struct ib_send_wr wr;
  struct ib_ah* ah;
  void* header;
  int hlen;
  int mss;
  __u32 remote_qpn;   // ignored when ah is a group: 0xFFFFFF then
  __u32 remote_qkey;  // bit 31 set: the queue pair's own is used
  __u16 pkey_index;
  __u32 port_num;
};

// IB_WR_REG_MR: makes valid what ib_map_mr_sg() noted, as it is when the request is posted, under
// the key `key`: mr->lkey or mr->rkey, of which the low 8 bits may be new. num_sge is 0.
struct ib_reg_wr {
  struct ib_send_wr wr;
  struct ib_mr* mr;
  __u32 key;
  int access;  // ib_access_flags
};

// The part of a region that a window is to open.
struct ib_mw_bind_info {
  struct ib_mr* mr;     // with MW_BIND, not zero-based
  __u64 addr;           // as the region names it
  __u64 length;         // bytes; 0 unbinds (type 1)
  int mw_access_flags;  // REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC; type 2 also ZERO_BASED
};

// IB_WR_BIND_MW: the window `mw` goes by `rkey` from now on, which differs from the key before in
// its low 8 bits at most. When the request is posted mw->rkey becomes `rkey`; peers may use it when
// the request has completed. One that fails or is flushed leaves the window as it was, and it may
// be bound again. num_sge is 0.
struct ib_bind_mw_wr {
  struct ib_send_wr wr;
  struct ib_mw* mw;
  __u32 rkey;
  struct ib_mw_bind_info bind_info;
};

static inline const struct ib_reg_wr* reg_wr(const struct ib_send_wr* wr) {
  return (const struct ib_reg_wr*)(const void*)wr;
}
static inline const struct ib_bind_mw_wr* bind_mw_wr(const struct ib_send_wr* wr) {
  return (const struct ib_bind_mw_wr*)(const void*)wr;
}
static inline const struct ib_rdma_wr* rdma_wr(const struct ib_send_wr* wr) {
  return (const struct ib_rdma_wr*)(const void*)wr;
}
static inline const struct ib_atomic_wr* atomic_wr(const struct ib_send_wr* wr) {
  return (const struct ib_atomic_wr*)(const void*)wr;
}
static inline const struct ib_flush_wr* flush_wr(const struct ib_send_wr* wr) {
  return (const struct ib_flush_wr*)(const void*)wr;
}
static inline const struct ib_ud_wr* ud_wr(const struct ib_send_wr* wr) {
  return (const struct ib_ud_wr*)(const void*)wr;
}

struct ib_recv_wr {
  struct ib_recv_wr* next;
  union {
    __u64 wr_id;
    struct ib_cqe* wr_cqe;
  };
  struct ib_sge* sg_list;
  int num_sge;
};

// Queues the list in order, up to the first request that is refused: that one is then in
// *bad_send_wr (which may be NULL), those before it are posted. 0: all were; an empty list too.
//
// -EINVAL: state before RTS; an opcode that the type does not have; too many SGEs; a message above
// 2^31 bytes, on UD above the port's MTU; inline data too long, or inline READ, atomic or FLUSH; an
// atomic or ATOMIC WRITE of other than 8 bytes or to an address that is no multiple of 8; a FLUSH
// with data, or without a type; a REG_MR of a region that is not ib_alloc_mr()'s or has nothing
// mapped, or with rights that do not go together; a BIND_MW without window or region; on UD no ah
// or one of another protection domain. -EFAULT: a REG_MR with LOCAL_WRITE of memory that cannot be
// written. -ENOMEM: the queue is full. In SQD the request waits, in SQE and ERR it is flushed with
// a completion. Keys are checked later: LOC_PROT_ERR in the completion.
int ib_post_send(struct ib_qp* qp, const struct ib_send_wr* send_wr,
                 const struct ib_send_wr** bad_send_wr);

// The same for receive work requests. -EINVAL: state RESET; too many SGEs; more than 2^31 bytes; a
// queue pair with an srq.
// On UD the first 40 bytes take the network header: an IPv4 header lies in bytes 20 … 39.
int ib_post_recv(struct ib_qp* qp, const struct ib_recv_wr* recv_wr,
                 const struct ib_recv_wr** bad_recv_wr);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_QP_H
