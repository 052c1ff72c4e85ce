// SPDX-License-Identifier: BSD-3-Clause
// An lcore ID for threads that DPDK did not start: without one they have no mempool cache.
#ifndef UROCE_NIC_LCORE_IDENTITY_H
#define UROCE_NIC_LCORE_IDENTITY_H

namespace uroce::nic {

// Makes the calling thread known to DPDK, the first time; it gives its ID back when it ends,
// because there are no more than RTE_MAX_LCORE. True: it has an ID. Without one everything works,
// slower.
bool take_lcore_identity();

}  // namespace uroce::nic

#endif  // UROCE_NIC_LCORE_IDENTITY_H
