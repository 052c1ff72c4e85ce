// SPDX-License-Identifier: BSD-3-Clause
// Memory for queues: allocated by control threads, lent to an engine with a command.
#ifndef UROCE_DEVICE_QUEUE_MEMORY_H
#define UROCE_DEVICE_QUEUE_MEMORY_H

#include <cstddef>
#include <memory>

namespace uroce::device {

// Zeroed, aligned to a cache line, to a huge page where it is as large as one. Touched, so that no
// page fault is left for the packet path, except what is larger than kTouchedBytesMax: that is
// asked for to be sure, not to be used, and its pages come when they are. nullptr: no memory.
inline constexpr size_t kTouchedBytesMax = size_t{32} << 20;
std::shared_ptr<void> allocate_queue_memory(size_t bytes);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_QUEUE_MEMORY_H
