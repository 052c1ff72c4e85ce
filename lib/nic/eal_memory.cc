// SPDX-License-Identifier: BSD-3-Clause
// Asking DPDK which of its memory segments an address is in.
#include "nic/eal_memory.h"

#include <rte_memory.h>

namespace uroce::nic {

bool find_eal_memory(uint64_t address, uint64_t& start, uint64_t& length) {
  const rte_memseg* segment = rte_mem_virt2memseg(reinterpret_cast<const void*>(address), nullptr);
  if (segment == nullptr) return false;
  start = segment->addr_64;
  length = segment->len;
  return true;
}

}  // namespace uroce::nic
