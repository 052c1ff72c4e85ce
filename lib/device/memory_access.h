// SPDX-License-Identifier: BSD-3-Clause
// Access flags of memory regions: which go together, and what of them the key table keeps.
#ifndef UROCE_DEVICE_MEMORY_ACCESS_H
#define UROCE_DEVICE_MEMORY_ACCESS_H

#include <cstdint>

namespace uroce::device {

// 0; -EINVAL: an unknown flag, or a right to write from afar without the one to write here.
// Optional flags may be ignored and are.
int check_access(uint32_t access);

// The flags that mean something for access to a region.
uint32_t rights_of(uint32_t access);

}  // namespace uroce::device

#endif  // UROCE_DEVICE_MEMORY_ACCESS_H
