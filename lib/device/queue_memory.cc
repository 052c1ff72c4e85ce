// SPDX-License-Identifier: BSD-3-Clause
// Memory for queues, by aligned allocation.
#include "device/queue_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace uroce::device {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::shared_ptr<void> map_untouched(size_t bytes) {
  const size_t mapped = bytes + kHugePage;  // to align it
  void* const block = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  const size_t start = round_up(reinterpret_cast<uintptr_t>(block), kHugePage);
  return {reinterpret_cast<void*>(start), [block, mapped](void*) { munmap(block, mapped); }};
}

}  // namespace

std::shared_ptr<void> allocate_queue_memory(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  if (bytes > SIZE_MAX - 2 * kHugePage) return nullptr;
  const size_t rounded = round_up(bytes, alignment);
  if (rounded > kTouchedBytesMax) return map_untouched(rounded);
  void* block = std::aligned_alloc(alignment, rounded);
  if (block == nullptr) return nullptr;
  // Fewer TLB misses on the packet path where the system has transparent huge pages; else a no-op.
  if (alignment == kHugePage) madvise(block, rounded, MADV_HUGEPAGE);
  std::memset(block, 0, rounded);
  return {block, std::free};
}

}  // namespace uroce::device
