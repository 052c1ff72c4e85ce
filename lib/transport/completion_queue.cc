// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: filling, publishing and polling lanes, and notifications.
//
// Notification without a lost wake-up. The engine publishes, fences, then reads `armed`; the
// consumer stores `armed`, fences, then reads the lanes (cq_arm). Whatever the order, at least one
// of the two sees the other: either the engine raises the event, or cq_arm says that entries wait.
#include "transport/completion_queue.h"

#include <algorithm>

#include "transport/completion_entry.h"
#include "transport/transport_env.h"

namespace uroce::transport {
namespace {

void publish(CqLane& lane) { lane.producer.store(lane.written, std::memory_order_release); }

// Raises the event that was armed, once however many engines see it. False: the event ring is full
// and the queue stays armed.
bool notify(TransportEnv& env, CompletionQueue& cq, bool solicited) {
  CqArm armed = cq.armed.load(std::memory_order_relaxed);
  while (armed == CqArm::kNextComp || (armed == CqArm::kSolicited && solicited)) {
    if (env.event_tail - env.event_head == TransportEnv::kEventsMax) return false;
    if (cq.armed.compare_exchange_weak(armed, CqArm::kNone, std::memory_order_relaxed)) {
      env.raise(EventType::kCompletion, cq.user);
      return true;
    }
  }
  return true;
}

}  // namespace

bool cq_make_room(TransportEnv& env, CompletionQueue& cq) {
  CqLane& lane = cq.lanes[env.engine_index];
  lane.cached_consumer = lane.consumer.load(std::memory_order_acquire);
  if (lane.written - lane.cached_consumer < lane.depth) return true;
  ++env.counters->cq_overrun;
  if (!cq.overrun.exchange(true, std::memory_order_relaxed)) {
    env.raise(EventType::kCqErr, cq.user);
  }
  return false;
}

void cq_mark_dirty(TransportEnv& env, CompletionQueue& cq) {
  CqLane& lane = cq.lanes[env.engine_index];
  if (env.dirty_count == TransportEnv::kDirtyMax) cq_publish_all(env);
  if (env.dirty_count < TransportEnv::kDirtyMax) {
    lane.dirty = true;
    env.dirty[env.dirty_count++] = &cq;
    return;
  }
  // The list is full of queues whose event found no room: this one is shown at once, even if it
  // should be held back, since nothing would come back to it.
  publish(lane);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!notify(env, cq, lane.solicited)) ++env.counters->events_lost;
  lane.solicited = false;
}

void cq_hold(TransportEnv& env, CompletionQueue& cq, uint64_t ticket) {
  if (!env.grace.over(ticket)) cq.lanes[env.engine_index].held_until = ticket;
}

bool cq_held(TransportEnv& env, const CompletionQueue& cq) {
  return !env.grace.over(cq.lanes[env.engine_index].held_until);
}

bool cq_push(TransportEnv& env, CompletionQueue& cq, const Cqe& cqe) {
  Cqe* entry = cq_claim(env, cq);
  if (entry == nullptr) return false;
  *entry = cqe;
  cq_commit(env, cq, cqe);
  return true;
}

void cq_publish_all(TransportEnv& env) {
  if (env.dirty_count == 0) return;
  for (uint32_t i = 0; i < env.dirty_count; ++i) {
    CqLane& lane = env.dirty[i]->lanes[env.engine_index];
    if (lane.held_until != 0 && env.grace.over(lane.held_until)) lane.held_until = 0;
    if (lane.held_until == 0) publish(lane);
  }
  // One fence for all of them: every lane is published before any `armed` is read.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < env.dirty_count; ++i) {
    CompletionQueue& cq = *env.dirty[i];
    CqLane& lane = cq.lanes[env.engine_index];
    if (lane.held_until == 0 && notify(env, cq, lane.solicited)) {
      lane.dirty = false;
      lane.solicited = false;
    } else {
      env.dirty[kept++] = &cq;  // looked at again at the end of the next input
    }
  }
  env.dirty_count = kept;
}

bool cq_has_entries(const CompletionQueue& cq) {
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    const CqLane& lane = cq.lanes[i];
    const uint32_t end = lane.producer.load(std::memory_order_acquire);
    for (uint32_t at = lane.consumer.load(std::memory_order_relaxed); at != end; ++at) {
      if (lane.entries[at & lane.mask].qp != nullptr) return true;
    }
  }
  return false;
}

bool cq_arm(CompletionQueue& cq, CqArm arm) {
  CqArm armed = cq.armed.load(std::memory_order_relaxed);
  while (armed < arm && !cq.armed.compare_exchange_weak(armed, arm, std::memory_order_relaxed)) {
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return cq_has_entries(cq);
}

void cq_take_back(CompletionQueue& cq, const void* qp) {
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    CqLane& lane = cq.lanes[i];
    const uint32_t end = lane.producer.load(std::memory_order_acquire);
    for (uint32_t at = lane.consumer.load(std::memory_order_relaxed); at != end; ++at) {
      Cqe& entry = lane.entries[at & lane.mask];
      if (entry.qp == qp) entry.qp = nullptr;
    }
  }
}

}  // namespace uroce::transport
