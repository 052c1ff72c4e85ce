// SPDX-License-Identifier: BSD-3-Clause
// A program of somebody else, in C11: built and linked against the installed library alone.
#include <stdio.h>
#include <string.h>
#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

int main(void) {
  const char* words = ib_wc_status_msg(IB_WC_SUCCESS);
  if (words == NULL || strlen(words) == 0) {
    fprintf(stderr, "ib_wc_status_msg says nothing\n");
    return 1;
  }
  if (!ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_INIT, IB_QPT_RC,
                          IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)) {
    fprintf(stderr, "the library does not know the first step of a queue pair\n");
    return 1;
  }
  if (!IS_ERR(ERR_PTR(-ENOMEM)) || PTR_ERR(ERR_PTR(-ENOMEM)) != -ENOMEM) {
    fprintf(stderr, "error pointers do not carry their errno\n");
    return 1;
  }
  printf("%s\n", words);
  return 0;
}
