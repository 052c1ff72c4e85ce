// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: where finished work requests are found.
#ifndef UROCE_IB_CQ_H
#define UROCE_IB_CQ_H

#include <uroce/ib_device.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_cqe;
struct ib_wc;

typedef void (*ib_comp_handler)(struct ib_cq* cq, void* cq_context);

// Who polls a queue of ib_alloc_cq(). The first three are one and the same here: completions are
// polled where handlers run (ib_verbs.h), each time until the queue is empty.
enum ib_poll_context {
  IB_POLL_SOFTIRQ,
  IB_POLL_WORKQUEUE,
  IB_POLL_UNBOUND_WORKQUEUE,
  IB_POLL_DIRECT,  // the caller polls with ib_process_cq_direct()
};

struct ib_cq {
  struct ib_device* device;
  ib_comp_handler comp_handler;
  void (*event_handler)(struct ib_event*, void*);
  void* cq_context;
  int cqe;  // entries that it can hold, at least what was asked
  enum ib_poll_context poll_ctx;
  unsigned int comp_vector;
};

// With a wr_cqe in the work request instead of a wr_id, ib_process_cq_direct() calls `done`.
struct ib_cqe {
  void (*done)(struct ib_cq* cq, struct ib_wc* wc);
};

enum ib_wc_status {
  IB_WC_SUCCESS,
  IB_WC_LOC_LEN_ERR,
  IB_WC_LOC_QP_OP_ERR,
  IB_WC_LOC_EEC_OP_ERR,
  IB_WC_LOC_PROT_ERR,
  IB_WC_WR_FLUSH_ERR,
  IB_WC_MW_BIND_ERR,
  IB_WC_BAD_RESP_ERR,
  IB_WC_LOC_ACCESS_ERR,
  IB_WC_REM_INV_REQ_ERR,
  IB_WC_REM_ACCESS_ERR,
  IB_WC_REM_OP_ERR,
  IB_WC_RETRY_EXC_ERR,
  IB_WC_RNR_RETRY_EXC_ERR,
  IB_WC_LOC_RDD_VIOL_ERR,
  IB_WC_REM_INV_RD_REQ_ERR,
  IB_WC_REM_ABORT_ERR,
  IB_WC_INV_EECN_ERR,
  IB_WC_INV_EEC_STATE_ERR,
  IB_WC_FATAL_ERR,
  IB_WC_RESP_TIMEOUT_ERR,
  IB_WC_GENERAL_ERR,
};

// A status for people, a static string; "unknown status" outside the list.
const char* ib_wc_status_msg(enum ib_wc_status status);

enum ib_wc_opcode {
  IB_WC_SEND = 0,
  IB_WC_RDMA_WRITE = 1,
  IB_WC_RDMA_READ = 2,
  IB_WC_COMP_SWAP = 3,
  IB_WC_FETCH_ADD = 4,
  IB_WC_BIND_MW = 5,
  IB_WC_LOCAL_INV = 6,
  IB_WC_LSO = 7,
  IB_WC_FLUSH = 8,
  IB_WC_ATOMIC_WRITE = 9,
  IB_WC_REG_MR = 10,
  IB_WC_RECV = 1 << 7,
  IB_WC_RECV_RDMA_WITH_IMM = (1 << 7) + 1,
};

enum ib_wc_flags {
  IB_WC_GRH = 1,
  IB_WC_WITH_IMM = 1 << 1,
  IB_WC_WITH_INVALIDATE = 1 << 2,
  IB_WC_IP_CSUM_OK = 1 << 3,
  IB_WC_WITH_SMAC = 1 << 4,
  IB_WC_WITH_VLAN = 1 << 5,
  IB_WC_WITH_NETWORK_HDR_TYPE = 1 << 6,
  IB_WC_RX_TIME_HARDWARE = 1 << 15,  // rx_time_ns is from the port's stamp; not in the kernel
};

// A completion. When status is not SUCCESS only wr_id, status, qp and vendor_err mean anything.
struct ib_wc {
  union {
    __u64 wr_id;
    struct ib_cqe* wr_cqe;
  };
  enum ib_wc_status status;
  enum ib_wc_opcode opcode;
  __u32 vendor_err;
  __u32 byte_len;  // bytes received or read; UD receives count the 40 bytes of network header
  struct ib_qp* qp;
  union {
    __be32 imm_data;  // with IB_WC_WITH_IMM: as the sender gave it
    __u32 invalidate_rkey;
  } ex;
  __u32 src_qp;  // UD: the sender's
  __u32 slid;
  int wc_flags;
  __u16 pkey_index;
  __u8 sl;
  __u8 dlid_path_bits;
  __u32 port_num;
  __u8 smac[6];           // with IB_WC_WITH_SMAC
  __u16 vlan_id;          // with IB_WC_WITH_VLAN, else 0xffff
  __u8 network_hdr_type;  // enum rdma_network_type, with IB_WC_WITH_NETWORK_HDR_TYPE
  // Receives: when the packet came that completed it, in nanoseconds of the clock that
  // uroce_clock_ns() reads; 0 on send completions. With IB_WC_RX_TIME_HARDWARE the port stamped the
  // packet; otherwise it is when the packet was taken from the port, one time for a burst. Not in
  // the kernel's structure.
  __u64 rx_time_ns;
};

struct ib_cq_init_attr {
  unsigned int cqe;   // entries wanted, 1 … attrs.max_cqe
  __u32 comp_vector;  // below num_comp_vectors
  __u32 flags;        // 0
};

enum ib_cq_notify_flags {
  IB_CQ_SOLICITED = 1 << 0,
  IB_CQ_NEXT_COMP = 1 << 1,
  IB_CQ_SOLICITED_MASK = IB_CQ_SOLICITED | IB_CQ_NEXT_COMP,
  IB_CQ_REPORT_MISSED_EVENTS = 1 << 2,
};

// Makes a completion queue. The handlers may be NULL. ERR_PTR: -EINVAL (cqe 0 or too many, a flag,
// a vector that does not exist), -ENOMEM.
//
// It holds `cqe` entries of each engine of the device. One that overflows loses nothing silently:
// the queue pair whose completion found no room goes to the error state and the event handler gets
// IB_EVENT_CQ_ERR.
struct ib_cq* ib_create_cq(struct ib_device* device, ib_comp_handler comp_handler,
                           void (*event_handler)(struct ib_event*, void*), void* cq_context,
                           const struct ib_cq_init_attr* cq_attr);

// -EBUSY while a queue pair uses it. Entries not polled are lost.
int ib_destroy_cq(struct ib_cq* cq);
int ib_destroy_cq_user(struct ib_cq* cq, struct ib_udata* udata);

// Changes how many entries it holds, 1 … attrs.max_cqe, while it is in use: what waits stays, in
// order. -EINVAL: out of range, or more than that wait now. -EBUSY: another resize is under way.
// -ENOMEM; -ETIMEDOUT: perhaps some engines hold the new number.
int ib_resize_cq(struct ib_cq* cq, int cqe);

// When an event that was armed is raised: after cq_count completions, or cq_period microseconds
// after the first of them, whichever comes first; each engine counts for itself. cq_count 0: the
// period alone. cq_period 0 switches it off, since nothing would end the wait. 0.
int rdma_set_cq_moderation(struct ib_cq* cq, __u16 cq_count, __u16 cq_period);

// A completion queue whose work requests carry wr_cqe, of which `done` is called for each of them.
// -EINVAL: a poll_ctx that is none, nr_cqe < 1 or above attrs.max_cqe. Freed by ib_free_cq().
struct ib_cq* ib_alloc_cq(struct ib_device* dev, void* private_data, int nr_cqe, int comp_vector,
                          enum ib_poll_context poll_ctx);
// The same on the next completion vector, by turns over all devices.
struct ib_cq* ib_alloc_cq_any(struct ib_device* dev, void* private_data, int nr_cqe,
                              enum ib_poll_context poll_ctx);
void ib_free_cq(struct ib_cq* cq);

// Polls up to `budget` completions (-1: until empty) of a queue from ib_alloc_cq() and calls the
// done() of each on this thread, no lock held. Returns how many.
int ib_process_cq_direct(struct ib_cq* cq, int budget);

// Takes up to num_entries completions out of the queue, in order for each queue pair. Returns how
// many; fewer than asked: it was empty then. -EINVAL: num_entries below 0.
int ib_poll_cq(struct ib_cq* cq, int num_entries, struct ib_wc* wc);

// Arms the queue: the next completion (SOLICITED: the next receive whose sender asked for it, or
// error) calls comp_handler, once for each arming. Exactly one of SOLICITED and NEXT_COMP, else
// -EINVAL; a NEXT_COMP widens a SOLICITED, never the other way round. 0: armed. 1, only with
// REPORT_MISSED_EVENTS: armed, but there are completions already; poll again. Without that flag
// completions that are there already raise no event.
int ib_req_notify_cq(struct ib_cq* cq, enum ib_cq_notify_flags flags);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_CQ_H
