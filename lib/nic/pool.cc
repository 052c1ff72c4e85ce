// SPDX-License-Identifier: BSD-3-Clause
// A port's mbuf pool.
#include "nic/pool.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memory.h>
#include <rte_mempool.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "nic/queue.h"

namespace uroce::nic {
namespace {

constexpr uint32_t kCacheSize = 128;
constexpr uint64_t kMebibyte = 1 << 20;

// Bytes of the EAL's heap that a pool takes: objects, the ring behind them, and some slack.
uint64_t pool_bytes(uint32_t mbuf_count, uint32_t room_bytes) {
  rte_mempool_objsz size{};
  rte_mempool_calc_obj_size(
      static_cast<uint32_t>(sizeof(rte_mbuf)) + RTE_PKTMBUF_HEADROOM + room_bytes, 0, &size);
  const uint64_t object_bytes = uint64_t{size.total_size} + 16;  // the ring has up to 2 × 8
  return mbuf_count * object_bytes * 102 / 100 + kMebibyte;
}

uint64_t heap_free_bytes() {
  uint64_t bytes = 0;
  for (unsigned i = 0; i < rte_socket_count(); ++i) {
    rte_malloc_socket_stats stats{};
    if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0) {
      bytes += stats.heap_freesz_bytes;
    }
  }
  return bytes;
}

absl::Status no_memory(const std::string& port, uint32_t mbuf_count, uint64_t wanted_bytes) {
  const uint64_t total = rte_eal_get_physmem_size();
  const uint64_t used = total - std::min(total, heap_free_bytes());
  const uint64_t megabytes = (used + wanted_bytes + kMebibyte - 1) / kMebibyte;
  if (rte_eal_has_hugepages() == 0) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("port %s: no memory for %d mbufs (%d MB): give EAL -m %d", port, mbuf_count,
                        wanted_bytes / kMebibyte, megabytes));
  }
  return absl::ResourceExhaustedError(
      absl::StrFormat("port %s: no memory for %d mbufs (%d MB): reserve hugepages for %d MB, or "
                      "give EAL --no-huge -m %d",
                      port, mbuf_count, wanted_bytes / kMebibyte, megabytes, megabytes));
}

// As rte_pktmbuf_pool_create, but objects may cross pages: it would give every mbuf above 4 KiB two
// whole pages without hugepages, although bus addresses that follow virtual ones are contiguous.
rte_mempool* create_pool(const std::string& name, uint32_t mbuf_count, uint32_t buffer_bytes,
                         int socket) {
  const bool by_page = rte_eal_has_hugepages() != 0 || rte_eal_iova_mode() != RTE_IOVA_VA;
  rte_mempool* pool = rte_mempool_create_empty(
      name.c_str(), mbuf_count, static_cast<uint32_t>(sizeof(rte_mbuf)) + buffer_bytes, kCacheSize,
      sizeof(rte_pktmbuf_pool_private), socket, by_page ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  if (pool == nullptr) return nullptr;
  rte_pktmbuf_pool_private settings{};
  settings.mbuf_data_room_size = static_cast<uint16_t>(buffer_bytes);
  if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr) == 0) {
    rte_pktmbuf_pool_init(pool, &settings);
    if (rte_mempool_populate_default(pool) == static_cast<int>(mbuf_count)) {
      rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
      return pool;
    }
  }
  rte_mempool_free(pool);
  return nullptr;
}

}  // namespace

uint32_t pool_mbuf_count(const PoolNeeds& needs) {
  const uint32_t per_queue = needs.rx_descriptors + needs.tx_descriptors + needs.frames_held_max +
                             needs.fault_held_max + kLocalCapacity + kBurst  // lent slots
                             + kBurst       // left over from a short burst
                             + 4 * kBurst;  // received, not yet released
  // A cache is flushed at one and a half times its size.
  return needs.queue_count * per_queue + needs.lcores * (kCacheSize + kCacheSize / 2);
}

absl::StatusOr<rte_mempool*> make_pool(const std::string& port, uint32_t mbuf_count,
                                       uint32_t room_bytes, int socket) {
  const uint32_t buffer_bytes =
      (RTE_PKTMBUF_HEADROOM + room_bytes + RTE_CACHE_LINE_SIZE - 1) & ~(RTE_CACHE_LINE_SIZE - 1u);
  if (buffer_bytes > UINT16_MAX) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %s: frames of %d bytes fit no mbuf: give a smaller mtu or framesz",
                        port, room_bytes));
  }
  const uint64_t wanted = pool_bytes(mbuf_count, buffer_bytes - RTE_PKTMBUF_HEADROOM);
  // Without hugepages the heap never grows: asking first keeps the EAL's own complaints away.
  if (rte_eal_has_hugepages() == 0 && wanted > heap_free_bytes()) {
    return no_memory(port, mbuf_count, wanted);
  }
  static unsigned serial = 0;  // control threads, one at a time
  const std::string name = absl::StrFormat("uroce_pool_%u", serial++);
  rte_mempool* pool = create_pool(name, mbuf_count, buffer_bytes, socket);
  if (pool == nullptr) return no_memory(port, mbuf_count, wanted);
  return pool;
}

bool pool_is_full(const rte_mempool* pool, uint32_t& missing) {
  missing = pool->size - rte_mempool_avail_count(pool);
  return missing == 0;
}

}  // namespace uroce::nic
