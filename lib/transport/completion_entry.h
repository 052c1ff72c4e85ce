// SPDX-License-Identifier: BSD-3-Clause
// Writing a completion where it will lie: the quick way into a completion queue.
#ifndef UROCE_TRANSPORT_COMPLETION_ENTRY_H
#define UROCE_TRANSPORT_COMPLETION_ENTRY_H

#include "transport/completion_queue.h"
#include "transport/transport_env.h"
#include "wire/frame.h"

namespace uroce::transport {

// The next entry of this engine's lane, for the caller to fill (every field) and then to
// cq_commit(). nullptr: as when cq_push() returns false.
inline Cqe* cq_claim(TransportEnv& env, CompletionQueue& cq) {
  CqLane& lane = cq.lanes[env.engine_index];
  const uint32_t depth = lane.depth.load(std::memory_order_relaxed);
  if (lane.written - lane.cached_consumer >= depth && !cq_make_room(env, cq)) [[unlikely]] {
    return nullptr;
  }
  return &lane.entries[lane.written & lane.mask];
}

// What a completion's flags say of its receive time.
inline uint32_t receive_time_flag(ReceiveTime arrival) {
  return arrival.hardware ? kWcRxTimeHardware : 0;
}

inline void cq_commit(TransportEnv& env, CompletionQueue& cq, const Cqe& claimed) {
  CqLane& lane = cq.lanes[env.engine_index];
  ++lane.written;
  if (claimed.solicited != 0 || claimed.status != WcStatus::kSuccess) lane.solicited = true;
  if (!lane.dirty) cq_mark_dirty(env, cq);
}

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_COMPLETION_ENTRY_H
