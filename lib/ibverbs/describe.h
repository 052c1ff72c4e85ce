// SPDX-License-Identifier: BSD-3-Clause
// What can be said of a device before DPDK runs: from its settings and the kernel's interface.
#ifndef UROCE_IBVERBS_DESCRIBE_H
#define UROCE_IBVERBS_DESCRIBE_H

#include <cstdint>

#include "config/settings.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {

// Of port `index` of completed settings (start/made_ports.h), as it is now. A port that nothing is
// known of (a NIC of vfio) is described by its settings alone; its MAC is zero until it runs. Links
// without a kernel interface are taken to be up, since programs refuse a port that is not.
DeviceDescription describe_device(const config::Settings& settings, uint32_t index);

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_DESCRIBE_H
