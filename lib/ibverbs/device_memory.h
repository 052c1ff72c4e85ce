// SPDX-License-Identifier: BSD-3-Clause
// Memory "of the device" (ibv_alloc_dm): with the CPU for a device, a buffer like any other.
#ifndef UROCE_IBVERBS_DEVICE_MEMORY_H
#define UROCE_IBVERBS_DEVICE_MEMORY_H

#include <cstddef>

namespace uroce::ibverbs {

inline constexpr size_t kDeviceMemoryBytesMax = size_t{1} << 20;  // of one allocation
inline constexpr size_t kDeviceMemoryUnit = 4;  // of offsets and lengths that are copied

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_DEVICE_MEMORY_H
