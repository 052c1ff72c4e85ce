// SPDX-License-Identifier: BSD-3-Clause
// Memory regions: memory of the process that work requests and peers may name by a key.
#ifndef UROCE_IB_MR_H
#define UROCE_IB_MR_H

#include <uroce/ib_pd.h>

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

struct ib_mr {
  struct ib_device* device;
  struct ib_pd* pd;
  __u32 lkey;
  __u32 rkey;    // the same number as lkey; 0 when no remote right was given
  __u64 iova;    // the address of byte 0 as work requests and peers name it
  __u64 length;  // bytes
  enum ib_mr_type type;
};

// Registers [start, start + length) of this process under the addresses virt_addr … . The memory
// stays the application's and must stay mapped until ib_dereg_mr() has returned; all of it is
// touched once, so that no page fault is left for the packet path. The owner may always read it.
// Unmapping it earlier is a crash at the next access: doc/execution.md.
//
// ERR_PTR: -EINVAL: length 0, a range that wraps around, REMOTE_WRITE or REMOTE_ATOMIC without
// LOCAL_WRITE, an unknown access bit; -EOPNOTSUPP: ON_DEMAND; -EFAULT: a part of
// the range is not mapped, or not writable where LOCAL_WRITE asks for it; -ENOMEM.
struct ib_mr* ib_reg_user_mr(struct ib_pd* pd, __u64 start, __u64 length, __u64 virt_addr,
                             int mr_access_flags);

// When it returns 0 no engine reads or writes the memory any more, and the key is dead: later use
// of it is an access error. -ETIMEDOUT: an engine does not answer; the region still exists, with
// its key dead already.
int ib_dereg_mr(struct ib_mr* mr);

// The low 8 bits of a key are the owner's to vary: the next value, upper 24 bits kept.
static inline __u32 ib_inc_rkey(__u32 rkey) { return (rkey & 0xffffff00u) | ((rkey + 1) & 0xffu); }

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_MR_H
