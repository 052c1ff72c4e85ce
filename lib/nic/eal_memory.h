// SPDX-License-Identifier: BSD-3-Clause
// The memory that DPDK has: hugepages, or what stands for them.
#ifndef UROCE_NIC_EAL_MEMORY_H
#define UROCE_NIC_EAL_MEMORY_H

#include <cstdint>

namespace uroce::nic {

// The segment that an address is in; false: it is not DPDK's memory. Any thread.
bool find_eal_memory(uint64_t address, uint64_t& start, uint64_t& length);

}  // namespace uroce::nic

#endif  // UROCE_NIC_EAL_MEMORY_H
