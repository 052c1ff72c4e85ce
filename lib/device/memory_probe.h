// SPDX-License-Identifier: BSD-3-Clause
// Whether a range of this process's memory can be read, or written, without finding out by a crash.
#ifndef UROCE_DEVICE_MEMORY_PROBE_H
#define UROCE_DEVICE_MEMORY_PROBE_H

#include <cstdint>

namespace uroce::device {

// 0, or -EFAULT: a page of [start, start + length) is not mapped, not readable, or (`writable`) not
// writable. Brings the pages in as a side effect, changes no byte of them; but those of a range
// above kBroughtInMax stay where they are. length > 0, no wrap.
int probe_memory(uint64_t start, uint64_t length, bool writable);

// Programs reserve address space by the terabyte and register it whole. All of it at once may be
// more memory than there is, and kills the process or another one.
inline constexpr uint64_t kBroughtInMax = uint64_t{1} << 30;

// For tests, the ways of asking. By the list of mappings: what a file that is too short lacks is
// not found out. -ENOENT: there is no list.
int probe_memory_by_mapping(uint64_t start, uint64_t length, bool writable);
// One page at a time, for kernels and mappings that refuse the fast way.
int probe_memory_by_page(uint64_t start, uint64_t length, bool writable);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_MEMORY_PROBE_H
