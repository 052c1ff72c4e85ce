// SPDX-License-Identifier: BSD-3-Clause
// Whether a range of this process's memory can be read, or written, without finding out by a crash.
#ifndef UROCE_DEVICE_MEMORY_PROBE_H
#define UROCE_DEVICE_MEMORY_PROBE_H

#include <cstdint>

namespace uroce::device {

// 0, or -EFAULT: a page of [start, start + length) is not mapped, not readable, or (`writable`) not
// writable. Brings the pages in as a side effect, changes no byte of them. length > 0, no wrap.
int probe_memory(uint64_t start, uint64_t length, bool writable);

// The slow way, one page at a time, for kernels and mappings that refuse the fast one; for tests.
int probe_memory_by_page(uint64_t start, uint64_t length, bool writable);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_MEMORY_PROBE_H
