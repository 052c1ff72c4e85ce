// SPDX-License-Identifier: BSD-3-Clause
// The public headers in a C11 program that has short names of its own.
#define UROCE_NO_KERNEL_TYPES
#include <uroce/ib_verbs.h>
#include <uroce/multicast.h>

typedef struct {
  int value;
} u8, u16, u32, u64, s8, s16, s32, s64;
#define IS_ERR(x) ((x).value)
#define ERR_PTR 1
#define PTR_ERR 2

int headers_without_kernel_names(void);
int headers_without_kernel_names(void) {
  const u32 mine = {ERR_PTR};
  const struct ib_ah* failed = uroce_err_ptr(-EINVAL);
  return IS_ERR(mine) == 1 && PTR_ERR == 2 && uroce_is_err(failed) &&
         uroce_ptr_err(failed) == -EINVAL;
}
