// SPDX-License-Identifier: BSD-3-Clause
// Faults on received frames: loses, doubles, delays, reorders and corrupts mbufs by a seeded plan.
#ifndef UROCE_NIC_FAULT_STAGE_H
#define UROCE_NIC_FAULT_STAGE_H

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "base/types.h"
#include "nic/fault_plan.h"

struct rte_mbuf;
struct rte_mempool;

namespace uroce::nic {

inline constexpr uint32_t kFaultHeldMax = 512;  // frames held back at one time

// One writer, the queue's thread.
struct FaultCounters {
  Counter lost;
  Counter duplicated;
  Counter reordered;
  Counter corrupted;
  Counter overflow;  // held back too many: lost
};

// Belongs to one queue and is used by its thread. The same plan, frames and times give the same
// faults.
class FaultStage {
 public:
  // `pool`: a frame that somebody else holds too is copied before a bit of it is flipped.
  FaultStage(const FaultPlan& plan, rte_mempool* pool);
  ~FaultStage();  // frees what it holds
  FaultStage(const FaultStage&) = delete;
  FaultStage& operator=(const FaultStage&) = delete;

  // Takes the first `count` frames of `burst`, returns there how many come out now (at most
  // `room`), in the order in which they are received.
  uint32_t apply(Time now, std::array<rte_mbuf*, 32>& burst, uint32_t count, uint32_t room);

  const FaultCounters& counters() const { return counters_; }

 private:
  struct Held {
    rte_mbuf* frame;
    Time due;         // not before
    uint64_t behind;  // not before so many frames have come out, or …
    Time patience;    // … this time, so that the last frame of a run comes through
  };

  uint64_t random();
  bool chance(double probability);
  void take(Time now, rte_mbuf* frame);
  void hold(const Held& held);
  rte_mbuf* corrupted(rte_mbuf* frame, uint64_t where);

  const FaultPlan plan_;
  rte_mempool* const pool_;
  uint64_t random_state_;
  uint64_t came_out_ = 0;
  std::array<Held, kFaultHeldMax> held_;
  uint32_t held_count_ = 0;
  FaultCounters counters_;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_FAULT_STAGE_H
