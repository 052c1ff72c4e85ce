// SPDX-License-Identifier: BSD-3-Clause
// Protection domains: what memory regions, address handles and queue pairs belong to.
#ifndef UROCE_IB_PD_H
#define UROCE_IB_PD_H

#include <uroce/ib_device.h>
#include <uroce/ib_udata.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_pd {
  // An L_Key for the whole memory of this process, good in gather and scatter lists of this domain
  // only, never for a peer. Nothing checks an address used with it: a wild one ends the process.
  __u32 local_dma_lkey;
  __u32 flags;
  struct ib_device* device;
};

enum ib_pd_flags {
  IB_PD_UNSAFE_GLOBAL_RKEY = 0x01,  // refused: -EINVAL
};

// ERR_PTR: -EINVAL (a flag), -ENOMEM (limit or memory).
struct ib_pd* ib_alloc_pd(struct ib_device* device, unsigned int flags);

// 0, or -EBUSY while anything belongs to the domain; it goes on working then. (The kernel's form
// returns nothing; a caller that ignores the result is as well off.)
int ib_dealloc_pd(struct ib_pd* pd);
int ib_dealloc_pd_user(struct ib_pd* pd, struct ib_udata* udata);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_PD_H
