// SPDX-License-Identifier: BSD-3-Clause
// The kernel's short type names and error pointers, for programs that call verbs in its manner.
//
// The verbs headers themselves use only the __u8 … __u64, __be16 … __be64 of <linux/types.h>.
// The unprefixed names u8 … u64, s8 … s64, ERR_PTR(), PTR_ERR(), IS_ERR(), IS_ERR_OR_NULL() and
// ETH_ALEN come on top. A program that has such names of its own defines
//
//     #define UROCE_NO_KERNEL_TYPES
//
// before the first header of uroce and writes uroce_err_ptr() etc. instead, which always exist.
#ifndef UROCE_IB_TYPES_H
#define UROCE_IB_TYPES_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// An error pointer carries a negative errno in the last 4095 addresses, which no object can have.
// Calls that return a pointer to an object return one of these instead of NULL when they fail.
#define UROCE_MAX_ERRNO 4095

static inline void* uroce_err_ptr(long error) { return (void*)(intptr_t)error; }
static inline long uroce_ptr_err(const void* pointer) { return (long)(intptr_t)pointer; }
static inline bool uroce_is_err(const void* pointer) {
  return (uintptr_t)pointer >= (uintptr_t)(intptr_t)-UROCE_MAX_ERRNO;
}

#ifndef UROCE_NO_KERNEL_TYPES
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

static inline void* ERR_PTR(long error) { return uroce_err_ptr(error); }
static inline long PTR_ERR(const void* pointer) { return uroce_ptr_err(pointer); }
static inline bool IS_ERR(const void* pointer) { return uroce_is_err(pointer); }
static inline bool IS_ERR_OR_NULL(const void* pointer) {
  return pointer == NULL || uroce_is_err(pointer);
}

#ifndef ETH_ALEN
#define ETH_ALEN 6  // bytes of a MAC address
#endif
#endif  // UROCE_NO_KERNEL_TYPES

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_TYPES_H
