// SPDX-License-Identifier: BSD-3-Clause
// The program's operator new and delete, which count, and the checker that reads the count.
#include "test/sim/check/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "test/sim/host.h"

namespace uroce::sim {
namespace {

thread_local uint64_t made = 0;
std::atomic<int64_t> alive{0};

void* counted(void* memory) {
  if (memory == nullptr) std::abort();  // a simulator out of memory has nothing more to say
  ++made;
  alive.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  alive.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

uint64_t allocations_so_far() { return made; }
int64_t allocations_alive() { return alive.load(std::memory_order_relaxed); }

void check_allocations(Host& host, Verdict& verdict) {
  const uint64_t count = host.audit().allocations;
  if (count == 0) return;
  verdict.fail("allocations",
               host.name() + ": the engine allocated " + std::to_string(count) + " times");
}

}  // namespace uroce::sim

// Every form that is used, since a sanitizer's library brings all of them along and frees what it
// has allocated only itself. The forms for arrays lead here, or stay the library's together.
namespace {

void* allocate(size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  return uroce::sim::counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}

}  // namespace

void* operator new(size_t bytes) { return uroce::sim::counted(std::malloc(bytes)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return uroce::sim::counted(std::malloc(bytes));
}
void* operator new(size_t bytes, std::align_val_t alignment) { return allocate(bytes, alignment); }
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept { uroce::sim::release(memory); }
void operator delete(void* memory, size_t) noexcept { uroce::sim::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { uroce::sim::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { uroce::sim::release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  uroce::sim::release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  uroce::sim::release(memory);
}
