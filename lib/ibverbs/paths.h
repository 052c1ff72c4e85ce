// SPDX-License-Identifier: BSD-3-Clause
// Between ibv_ah_attr and what the device calls a path.
#ifndef UROCE_IBVERBS_PATHS_H
#define UROCE_IBVERBS_PATHS_H

#include "device/path.h"
#include "ibverbs/handles.h"

namespace uroce::ibverbs {

// The MAC address is always found by the device: there is no place for one.
device::AhAttributes to_path(const ibv_ah_attr& attr);
ibv_ah_attr from_path(const device::AhAttributes& path);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_PATHS_H
