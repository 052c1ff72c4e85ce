// SPDX-License-Identifier: BSD-3-Clause
// Memory for queues: allocated by control threads, lent to an engine with a command.
#ifndef UROCE_DEVICE_QUEUE_MEMORY_H
#define UROCE_DEVICE_QUEUE_MEMORY_H

#include <cstddef>
#include <memory>

namespace uroce::device {

// Zeroed and touched, aligned to a cache line, to a huge page where it is as large as one. nullptr:
// no memory.
std::shared_ptr<void> allocate_queue_memory(size_t bytes);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_QUEUE_MEMORY_H
