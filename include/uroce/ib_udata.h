// SPDX-License-Identifier: BSD-3-Clause
// The kernel's border to user space, which does not exist here.
#ifndef UROCE_IB_UDATA_H
#define UROCE_IB_UDATA_H

#include <uroce/ib_types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Private data between a user's library and a driver. Library and driver are one here, so nothing
// can be passed: every call that takes one wants NULL or both lengths 0, else -EINVAL.
struct ib_udata {
  const void* inbuf;
  void* outbuf;
  size_t inlen;
  size_t outlen;
};

static inline bool uroce_udata_is_empty(const struct ib_udata* udata) {
  return udata == NULL || (udata->inlen == 0 && udata->outlen == 0);
}

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_UDATA_H
