// SPDX-License-Identifier: BSD-3-Clause
// Proof: in steady state neither a polling thread nor one that posts and polls completions
// allocates or frees memory.
//
//   no_allocation inline|worker [--break]
//
// The program's own malloc and its kin count while their thread is armed; they serve every library
// of the process. That they do is seen at start-up. --break allocates once on the polling thread.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "test/proofs/on_worker.h"
#include "test/proofs/rounds.h"

namespace {

constinit thread_local bool armed = false;
constinit std::atomic<uint64_t> counted{0};

void count() {
  if (armed) counted.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The C library's allocator under the names that it keeps for itself.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* pointer, size_t size) {
  count();
  return __libc_realloc(pointer, size);
}
void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** pointer, size_t alignment, size_t size) {
  count();
  *pointer = __libc_memalign(alignment, size);
  return *pointer == nullptr ? ENOMEM : 0;
}
void free(void* pointer) {
  count();
  __libc_free(pointer);
}
}

namespace uroce::proofs {
namespace {

void arm() { armed = true; }
void disarm() { armed = false; }
// Through a volatile pointer: the compiler would see that nobody wants the memory.
void allocate() {
  void* volatile memory = malloc(1);
  free(memory);
}

bool on_polling_thread(bool worker, void (*function)()) {
  if (worker) return run_on_worker(function);
  function();
  return true;
}

int watch(Rounds& rounds, const Place& place, bool broken) {
  const bool worker = place.worker;
  if (!rounds.run(place.warm_up()) || !on_polling_thread(worker, arm)) {
    std::fprintf(stderr, "no_allocation: the warm-up failed\n");
    return 1;
  }
  counted = 0;
  if (broken) on_polling_thread(worker, allocate);
  arm();
  const bool good = rounds.run(place.rounds());
  disarm();
  const uint64_t calls = counted;
  on_polling_thread(worker, disarm);
  if (!good) {
    std::fprintf(stderr, "no_allocation: the rounds failed\n");
    return 1;
  }
  std::printf("%u rounds, %lu calls of the allocator\n", place.rounds(), calls);
  return calls == 0 ? 0 : 3;
}

int run(bool worker, bool broken) {
  const Place place = find_place(worker);
  arm();
  uroce_context* context = start(place);
  disarm();
  if (context == nullptr) return 1;
  if (counted < 100) {
    std::fprintf(stderr, "no_allocation: start-up allocated %lu times: nothing is counted\n",
                 counted.load());
    return 1;
  }
  int status = 0;
  {
    Rounds rounds(context, place);
    status = watch(rounds, place, broken);
  }
  if (uroce_stop(context) != 0) {
    std::fprintf(stderr, "no_allocation: %s\n", uroce_error());
    return 1;
  }
  return status;
}

}  // namespace
}  // namespace uroce::proofs

int main(int argc, char** argv) {
  return uroce::proofs::prove("no_allocation", argc, argv, uroce::proofs::run);
}
