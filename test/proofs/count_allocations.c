// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: counts a process's allocations and says how many at its end, last on stderr.
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* pointer, size_t size);
void* malloc(size_t size);
void* calloc(size_t number, size_t size);
void* realloc(void* pointer, size_t size);

static atomic_ulong counted;

void* malloc(size_t size) {
  atomic_fetch_add(&counted, 1);
  return __libc_malloc(size);
}

void* calloc(size_t number, size_t size) {
  atomic_fetch_add(&counted, 1);
  return __libc_calloc(number, size);
}

void* realloc(void* pointer, size_t size) {
  atomic_fetch_add(&counted, 1);
  return __libc_realloc(pointer, size);
}

__attribute__((destructor)) static void say(void) {
  fprintf(stderr, "%lu allocations\n", atomic_load(&counted));
}
