// SPDX-License-Identifier: BSD-3-Clause
// Writing cache lines back to memory, for memory that keeps its content without power.
#ifndef UROCE_MEMORY_WRITE_BACK_H
#define UROCE_MEMORY_WRITE_BACK_H

#include <cstdint>
#include <span>

namespace uroce::memory {

// When it returns, every line of the range has left the caches of all CPUs towards memory, and no
// later store can become durable before them. The content of the range does not change.
void write_back(std::span<const uint8_t> range);

}  // namespace uroce::memory

#endif  // UROCE_MEMORY_WRITE_BACK_H
