// SPDX-License-Identifier: BSD-3-Clause
// A device's counters in the shape of the kernel's hardware statistics. (observe.h has all that
// there is to see, with explanations.)
#ifndef UROCE_IB_STATS_H
#define UROCE_IB_STATS_H

#include <pthread.h>
#include <uroce/ib_device.h>

#ifdef __cplusplus
extern "C" {
#endif

// A counter that is off until it is switched on. Ours are all on.
#define IB_STAT_FLAG_OPTIONAL (1u << 0)

struct rdma_stat_desc {
  const char* name;  // rxe's where the event is the same, else that of doc/counters.md
  unsigned int flags;
  const void* priv;  // the driver's
};

#define RDMA_HW_STATS_DEFAULT_LIFESPAN 10  // milliseconds

// A block of counters, `value` in the order of `descs`. The calls below keep it consistent; who
// reads the values beside them takes `lock`.
struct rdma_hw_stats {
  pthread_mutex_t lock;
  unsigned long timestamp;  // of the last reading, nanoseconds of the device's clock; 0: none yet
  unsigned long lifespan;   // nanoseconds that a reading is good for
  const struct rdma_stat_desc* descs;
  unsigned long* is_disabled;  // one bit a counter; rdma_hw_stat_enable()
  int num_counters;
  __extension__ __u64 value[];
};

// A block of zeros for `descs`, which must outlive it; lifespan in milliseconds. NULL: no memory.
// Freed by rdma_free_hw_stats_struct(), which takes NULL too.
struct rdma_hw_stats* rdma_alloc_hw_stats_struct(const struct rdma_stat_desc* descs,
                                                 int num_counters, unsigned long lifespan);
void rdma_free_hw_stats_struct(struct rdma_hw_stats* stats);

// Switches a counter on or off: one that is off keeps its value. -EINVAL: no such counter.
int rdma_hw_stat_enable(struct rdma_hw_stats* stats, int index, bool enable);

// A block for the counters of a port. ERR_PTR: -EINVAL: no such port; -ENOMEM; -EOPNOTSUPP.
struct rdma_hw_stats* ib_alloc_hw_port_stats(struct ib_device* device, __u32 port_num);

// Reads the port's counters into the block, unless the last reading is younger than its lifespan.
// Returns how many there are. -EINVAL: port 0 or none, or stats NULL; -EOPNOTSUPP. Any thread, at
// any time; nothing is stopped.
int ib_get_hw_stats(struct ib_device* device, struct rdma_hw_stats* stats, __u32 port_num);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_STATS_H
