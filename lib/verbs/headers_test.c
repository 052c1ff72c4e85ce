// SPDX-License-Identifier: BSD-3-Clause
// The public headers in one C11 file with those that they must live beside.
#include <infiniband/verbs.h>
#include <linux/types.h>
#include <uroce/ib_verbs.h>

#include "verbs/kernel_names_fixture.h"

int kernel_names_in_c(void);
int kernel_names_in_c(void) { return uroce_kernel_names(); }

// Uses names of all three, so that none hides another.
int headers_in_c(void);
int headers_in_c(void) {
  struct ibv_qp_attr theirs = {.qp_state = IBV_QPS_RTS};
  struct ib_qp_attr ours = {.qp_state = IB_QPS_RTS};
  const __be16 wire = 0;
  const u16 number = wire;
  struct ib_pd* failed = ERR_PTR(-ENOMEM);
  return (int)theirs.qp_state == (int)ours.qp_state && number == 0 && IS_ERR(failed) &&
         PTR_ERR(failed) == -ENOMEM && !IS_ERR(&ours) && !IS_ERR(NULL) && IS_ERR_OR_NULL(NULL);
}
