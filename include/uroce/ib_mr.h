// SPDX-License-Identifier: BSD-3-Clause
// Memory regions and windows: memory of the process that work requests and peers may name by a key.
#ifndef UROCE_IB_MR_H
#define UROCE_IB_MR_H

#include <uroce/ib_pd.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ib_access_flags {
  IB_ACCESS_LOCAL_WRITE = 1 << 0,
  IB_ACCESS_REMOTE_WRITE = 1 << 1,
  IB_ACCESS_REMOTE_READ = 1 << 2,
  IB_ACCESS_REMOTE_ATOMIC = 1 << 3,
  IB_ACCESS_MW_BIND = 1 << 4,
  IB_ZERO_BASED = 1 << 5,
  IB_ACCESS_ON_DEMAND = 1 << 6,
  IB_ACCESS_HUGETLB = 1 << 7,
  IB_ACCESS_FLUSH_GLOBAL = 1 << 8,
  IB_ACCESS_FLUSH_PERSISTENT = 1 << 9,
  IB_ACCESS_RELAXED_ORDERING = 1 << 20,
  IB_ACCESS_OPTIONAL = 0x3ff00000,  // bits that may be ignored
};

enum ib_mr_type {
  IB_MR_TYPE_MEM_REG,
  IB_MR_TYPE_SG_GAPS,
  IB_MR_TYPE_DM,
  IB_MR_TYPE_USER,
  IB_MR_TYPE_DMA,
  IB_MR_TYPE_INTEGRITY,
};

struct ib_sig_attrs;

struct ib_mr {
  struct ib_device* device;
  struct ib_pd* pd;
  __u32 lkey;
  __u32 rkey;    // the same number as lkey; 0 when no remote right was given
  __u64 iova;    // the address of byte 0 as work requests and peers name it
  __u64 length;  // bytes
  enum ib_mr_type type;
  struct ib_sig_attrs*
      sig_attrs;  // of IB_MR_TYPE_INTEGRITY, for the application to fill; else NULL
};

// What ib_rereg_user_mr() changes.
enum {
  IB_MR_REREG_TRANS = 1 << 0,   // start, length and virt_addr
  IB_MR_REREG_PD = 1 << 1,      // the protection domain
  IB_MR_REREG_ACCESS = 1 << 2,  // the access flags
};

// Registers [start, start + length) of this process under the addresses virt_addr … . The memory
// stays the application's and must stay mapped until ib_dereg_mr() has returned; all of it is
// touched once, so that no page fault is left for the packet path. The owner may always read it.
// Unmapping it earlier is a crash at the next access: doc/execution.md. With IB_ZERO_BASED the
// region is named by offsets from its start: virt_addr is not looked at and iova is 0. With
// IB_ACCESS_ON_DEMAND nothing is touched or looked at: pages come when they are used, and the whole
// address space may be one region; what is not mapped then is a crash.
//
// ERR_PTR: -EINVAL: length 0, a range that wraps around, REMOTE_WRITE or REMOTE_ATOMIC without
// LOCAL_WRITE, an unknown access bit; -EFAULT: a part of the range is not mapped, or not writable
// where LOCAL_WRITE asks for it; -ENOMEM.
struct ib_mr* ib_reg_user_mr(struct ib_pd* pd, __u64 start, __u64 length, __u64 virt_addr,
                             int mr_access_flags);

// Changes a region in place; what no flag names stays, the keys too. Its keys are not valid while
// the call lasts: work that uses them meanwhile fails. An error has changed nothing: the region is
// as it was. -EINVAL: no flag or an unknown one; what ib_reg_user_mr() says; a domain of another
// device; a region of ib_alloc_mr(); windows are bound to it. -EFAULT: as
// ib_reg_user_mr(). -ETIMEDOUT: an engine does not answer.
int ib_rereg_user_mr(struct ib_mr* mr, int flags, __u64 start, __u64 length, __u64 virt_addr,
                     int mr_access_flags, struct ib_pd* pd);

// A region for fast registration: it stands for no memory, and its keys are not valid, until a work
// request IB_WR_REG_MR says so, and again after IB_WR_LOCAL_INV or a peer's SEND with invalidate.
// max_num_sg: pieces that ib_map_mr_sg() takes at once, 1 … attrs.max_fast_reg_page_list_len.
// ERR_PTR: -EINVAL: another type than MEM_REG, max_num_sg; -ENOMEM.
struct ib_mr* ib_alloc_mr(struct ib_pd* pd, enum ib_mr_type mr_type, __u32 max_num_sg);

// A piece of this process's memory. (The kernel's structure of this name has pages in it.)
struct scatterlist {
  __u64 dma_address;
  unsigned int length;  // bytes
};

// Notes which memory the next IB_WR_REG_MR of this region is about, and sets mr->iova and
// mr->length. Memory is named by its addresses, and a region is one range of them: mapping stops at
// the first piece that does not begin where the one before ends, and behind max_num_sg pieces. It
// begins *sg_offset bytes into the first piece (NULL: 0). page_size: a power of two, not used
// otherwise. Returns how many pieces are mapped; -EINVAL: not a region of ib_alloc_mr(), nothing to
// map, sg_offset outside the first piece; -EFAULT: a part of it is not mapped memory.
int ib_map_mr_sg(struct ib_mr* mr, struct scatterlist* sg, int sg_nents, unsigned int* sg_offset,
                 unsigned int page_size);

// When it returns 0 no engine reads or writes the memory any more, and the key is dead: later use
// of it is an access error. -EINVAL: windows are bound to it, and nothing has happened. -ETIMEDOUT:
// an engine does not answer; the region still exists, with its key dead already.
int ib_dereg_mr(struct ib_mr* mr);
int ib_dereg_mr_user(struct ib_mr* mr, struct ib_udata* udata);

// The low 8 bits of a key are the owner's to vary: the next value, upper 24 bits kept.
static inline __u32 ib_inc_rkey(__u32 rkey) { return (rkey & 0xffffff00u) | ((rkey + 1) & 0xffu); }

// For the next IB_WR_REG_MR: the same slot, with `newkey` as the low 8 bits of both keys.
static inline void ib_update_fast_reg_key(struct ib_mr* mr, __u8 newkey) {
  mr->lkey = (mr->lkey & 0xffffff00u) | newkey;
  mr->rkey = (mr->rkey & 0xffffff00u) | newkey;
}

// A window opens a part of a region to peers, under a key of its own, by a work request
// IB_WR_BIND_MW. Type 1 is bound again and unbound (length 0) at will and serves every queue pair
// of its domain. Type 2 (the IBA's 2B) serves the queue pair that bound it, and is invalidated, by
// IB_WR_LOCAL_INV or that queue pair's peer, before it is bound again; the end of that queue pair
// invalidates it as well.
enum ib_mw_type {
  IB_MW_TYPE_1 = 1,
  IB_MW_TYPE_2 = 2,
};

struct ib_mw {
  struct ib_device* device;
  struct ib_pd* pd;
  __u32 rkey;  // what the window goes by; posting a bind sets the new one
  enum ib_mw_type type;
};

// ERR_PTR: -EINVAL: no such type; -ENOMEM.
struct ib_mw* ib_alloc_mw(struct ib_pd* pd, enum ib_mw_type type);

// A bound window is unbound by it. When it returns 0 no engine uses the window any more.
// -ETIMEDOUT: an engine does not answer; the window still exists, its key is dead already.
int ib_dealloc_mw(struct ib_mw* mw);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_MR_H
