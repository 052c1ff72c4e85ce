// SPDX-License-Identifier: BSD-3-Clause
// A port's mbuf pool: how many, how large, and what memory it takes.
#ifndef UROCE_NIC_POOL_H
#define UROCE_NIC_POOL_H

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

struct rte_mempool;

namespace uroce::nic {

// Every place where an mbuf of the port can be at one time.
struct PoolNeeds {
  uint32_t queue_count = 1;
  uint32_t rx_descriptors = 0;   // per queue
  uint32_t tx_descriptors = 0;   // per queue; of a ring port the ring's size
  uint32_t frames_held_max = 0;  // per queue: kept, handed over
  uint32_t fault_held_max = 0;   // per queue
  uint32_t lcores = 1;           // threads with a pool cache
};
uint32_t pool_mbuf_count(const PoolNeeds& needs);

// Pools with mbufs that hold `room_bytes` behind their headroom. Memory on the NUMA node `socket`
// (SOCKET_ID_ANY: any). kResourceExhausted: one line with the -m value that would do.
absl::StatusOr<rte_mempool*> make_pool(const std::string& port, uint32_t mbuf_count,
                                       uint32_t room_bytes, int socket);

// All mbufs are home. Then the pool may be freed.
bool pool_is_full(const rte_mempool* pool, uint32_t& missing);

}  // namespace uroce::nic

#endif  // UROCE_NIC_POOL_H
