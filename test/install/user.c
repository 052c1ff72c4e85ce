// SPDX-License-Identifier: BSD-3-Clause
// A program of somebody else, in C11: built and linked against the installed library alone.
#include <stdio.h>
#include <string.h>
#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include "verbs/kernel_names_fixture.h"

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

static int calls_without_a_device(void) {
  const char* words = ib_wc_status_msg(IB_WC_SUCCESS);
  if (words == NULL || strlen(words) == 0) return fail("ib_wc_status_msg says nothing");
  if (!ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_INIT, IB_QPT_RC,
                          IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)) {
    return fail("the library does not know the first step of a queue pair");
  }
  if (!IS_ERR(ERR_PTR(-ENOMEM)) || PTR_ERR(ERR_PTR(-ENOMEM)) != -ENOMEM) {
    return fail("error pointers do not carry their errno");
  }
  if (uroce_kernel_names() != 97) return fail("not every name of the kernel is there");
  return strcmp(uroce_version(), UROCE_WANTED_VERSION) == 0 ? 0 : fail("another version");
}

// Two devices on a pair of memory rings; a protection domain on each.
static int calls_with_devices(void) {
  const char* const arguments[] = {"user",
                                   "--no-huge",
                                   "--no-pci",
                                   "-m",
                                   "256",
                                   "--no-shconf",
                                   "--no-telemetry",
                                   "-l",
                                   "0",
                                   "--",
                                   "--rings",
                                   "1",
                                   "--port",
                                   "net_ring_u0,address=10.0.0.1/24",
                                   "--port",
                                   "net_ring_u1,address=10.0.0.2/24"};
  struct uroce_context* context = NULL;
  const int count = (int)(sizeof arguments / sizeof arguments[0]);
  if (uroce_start(count, arguments, &context) != 0) return fail(uroce_error());
  if (uroce_device_count(context) != 2) return fail("a ring pair is not two devices");
  for (unsigned int i = 0; i < 2; ++i) {
    struct ib_pd* pd = ib_alloc_pd(uroce_device(context, i), 0);
    if (IS_ERR(pd)) return fail("no protection domain");
    if (ib_dealloc_pd(pd) != 0) return fail("the protection domain does not go");
  }
  (void)uroce_poll(context);
  return uroce_stop(context) == 0 ? 0 : fail(uroce_error());
}

int main(void) {
  if (calls_without_a_device() != 0 || calls_with_devices() != 0) return 1;
  printf("uroce %s at work\n", uroce_version());
  return 0;
}
