// SPDX-License-Identifier: BSD-3-Clause
// The engines' counters as hardware statistics of a port.
#include <uroce/ib_port.h>
#include <uroce/ib_stats.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "transport/transport_counters.h"
#include "verbs/driver.h"
#include "verbs/handles.h"

namespace uroce::verbs {
namespace {

using transport::TransportCounters;

// rxe's name of an event that it counts too.
constexpr const char* name_of(const char* ours) {
  struct Pair {
    std::string_view ours;
    const char* rxe;
  };
  constexpr Pair kNames[] = {
      {"sent_packets", "sent_pkts"},
      {"received_packets", "rcvd_pkts"},
      {"out_of_sequence", "out_of_seq_request"},
      {"rnr_nak_received", "rcvd_rnr_err"},
      {"rnr_nak_sent", "send_rnr_err"},
      {"packet_seq_err", "rcvd_seq_err"},
      {"rnr_nak_retry_err", "retry_rnr_exceeded_err"},
  };
  for (const Pair& pair : kNames) {
    if (pair.ours == ours) return pair.rxe;
  }
  return ours;
}

constexpr rdma_stat_desc kDescriptions[] = {
#define UROCE_DESCRIBE(member) {.name = name_of(#member), .flags = 0, .priv = nullptr},
    UROCE_TRANSPORT_COUNTERS(UROCE_DESCRIBE)
#undef UROCE_DESCRIBE
};
constexpr int kCount = static_cast<int>(std::size(kDescriptions));

constexpr Counter TransportCounters::*kMembers[] = {
#define UROCE_MEMBER(member) &TransportCounters::member,
    UROCE_TRANSPORT_COUNTERS(UROCE_MEMBER)
#undef UROCE_MEMBER
};

constexpr int kWordBits = sizeof(unsigned long) * CHAR_BIT;

bool is_disabled(const rdma_hw_stats& stats, int index) {
  return (stats.is_disabled[index / kWordBits] >> (index % kWordBits) & 1) != 0;
}

class StatsLock {
 public:
  explicit StatsLock(rdma_hw_stats& stats) : lock_(stats.lock) { pthread_mutex_lock(&lock_); }
  ~StatsLock() { pthread_mutex_unlock(&lock_); }
  StatsLock(const StatsLock&) = delete;
  StatsLock& operator=(const StatsLock&) = delete;

 private:
  pthread_mutex_t& lock_;
};

}  // namespace
}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

rdma_hw_stats* rdma_alloc_hw_stats_struct(const rdma_stat_desc* descs, int num_counters,
                                          unsigned long lifespan) {
  const auto count = static_cast<size_t>(num_counters);
  auto* stats =
      static_cast<rdma_hw_stats*>(std::calloc(1, sizeof(rdma_hw_stats) + count * sizeof(__u64)));
  if (stats == nullptr) return nullptr;
  stats->is_disabled = static_cast<unsigned long*>(
      std::calloc(count / static_cast<size_t>(kWordBits) + 1, sizeof(unsigned long)));
  if (stats->is_disabled == nullptr) {
    std::free(stats);
    return nullptr;
  }
  pthread_mutex_init(&stats->lock, nullptr);
  stats->descs = descs;
  stats->num_counters = num_counters;
  stats->lifespan = lifespan * 1'000'000;
  return stats;
}

void rdma_free_hw_stats_struct(rdma_hw_stats* stats) {
  if (stats == nullptr) return;
  pthread_mutex_destroy(&stats->lock);
  std::free(stats->is_disabled);
  std::free(stats);
}

int rdma_hw_stat_enable(rdma_hw_stats* stats, int index, bool enable) {
  if (index < 0 || index >= stats->num_counters) return -EINVAL;
  const StatsLock guard(*stats);
  const unsigned long bit = 1ul << (index % kWordBits);
  unsigned long& word = stats->is_disabled[index / kWordBits];
  word = enable ? word & ~bit : word | bit;
  return 0;
}

rdma_hw_stats* driver::alloc_hw_port_stats(ib_device* device, __u32 port_num) {
  if (rdma_is_port_valid(device, port_num) == 0) return error_pointer<rdma_hw_stats>(-EINVAL);
  auto* stats = rdma_alloc_hw_stats_struct(kDescriptions, kCount, RDMA_HW_STATS_DEFAULT_LIFESPAN);
  return stats != nullptr ? stats : error_pointer<rdma_hw_stats>(-ENOMEM);
}

int driver::get_hw_stats(ib_device* device, rdma_hw_stats* stats, __u32 port_num) {
  if (stats == nullptr || rdma_is_port_valid(device, port_num) == 0) return -EINVAL;
  if (stats->descs != kDescriptions) return -EINVAL;
  uroce::device::Device& object = *of(device).object;
  const auto now = static_cast<unsigned long>(object.now().time_since_epoch().count());
  const StatsLock guard(*stats);
  if (stats->timestamp != 0 && now - stats->timestamp < stats->lifespan) return kCount;
  for (int i = 0; i < kCount; ++i) {
    if (is_disabled(*stats, i)) continue;
    stats->value[i] = 0;
    for (uint32_t engine = 0; engine < object.engine_count(); ++engine) {
      stats->value[i] += (object.counters(engine).*kMembers[i]).value();
    }
  }
  stats->timestamp = now;
  return kCount;
}
