// SPDX-License-Identifier: BSD-3-Clause
// Memory for queues, by aligned allocation.
#include "device/queue_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace uroce::device {

std::shared_ptr<void> allocate_queue_memory(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  if (bytes > SIZE_MAX - alignment) return nullptr;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, rounded);
  if (block == nullptr) return nullptr;
  // Fewer TLB misses on the packet path where the system has transparent huge pages; else a no-op.
  if (alignment == kHugePage) madvise(block, rounded, MADV_HUGEPAGE);
  std::memset(block, 0, rounded);
  return {block, std::free};
}

}  // namespace uroce::device
