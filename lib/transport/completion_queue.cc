// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: filling, publishing and polling lanes, and notifications.
//
// Notification without a lost wake-up. The engine publishes, fences, then reads `armed`; the
// consumer stores `armed`, fences, then reads the lanes (cq_arm). Whatever the order, at least one
// of the two sees the other: either the engine raises the event, or cq_arm says that entries wait.
#include "transport/completion_queue.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/completion_entry.h"
#include "transport/transport_env.h"

namespace uroce::transport {
namespace {

// Ends the holds whose grace periods are over.
void release(TransportEnv& env, CqLane& lane) {
  while (lane.holds[0].ticket != 0 && env.grace.over(lane.holds[0].ticket)) {
    const bool solicited = lane.holds[0].solicited;
    lane.holds = {lane.holds[1], CqHold{}};
    bool& behind = lane.holds[0].ticket != 0 ? lane.holds[0].solicited : lane.solicited;
    behind = behind || solicited;
  }
}

// Up to where the lane may be seen.
uint32_t visible_end(const CqLane& lane) {
  return lane.holds[0].ticket != 0 ? lane.holds[0].from : lane.written;
}

// Whether a solicited one is among the entries that may be seen and have had no event.
bool& solicited(CqLane& lane) {
  return lane.holds[0].ticket != 0 ? lane.holds[0].solicited : lane.solicited;
}

bool wants(CqArm armed, bool solicited) {
  return armed == CqArm::kNextComp || (armed == CqArm::kSolicited && solicited);
}

// Raises the event that was armed, once however many engines see it.
void notify(TransportEnv& env, CompletionQueue& cq, CqLane& lane) {
  CqArm armed = cq.armed.load(std::memory_order_relaxed);
  while (wants(armed, solicited(lane))) {
    if (cq.armed.compare_exchange_weak(armed, CqArm::kNone, std::memory_order_relaxed)) {
      env.raise(lane.events, EventType::kCompletion, cq.user);
      break;
    }
  }
  lane.held = 0;
  solicited(lane) = false;
}

// Whether the event has to wait for more completions; it is then on the engine's list.
bool hold_back(TransportEnv& env, CompletionQueue& cq, CqLane& lane, uint32_t fresh) {
  const CqModeration moderation = cq.moderation.load(std::memory_order_relaxed);
  if (moderation.period_us == 0) return false;
  if (lane.held == 0) {
    lane.held_until = env.now + std::chrono::microseconds(moderation.period_us);
  }
  lane.held += fresh;
  if (moderation.count != 0 && lane.held >= moderation.count) return false;
  if (env.now >= lane.held_until) return false;
  if (!lane.held_back) {
    if (env.held_count == TransportEnv::kHeldMax) return false;
    lane.held_back = true;
    env.held[env.held_count++] = &cq;
  }
  env.held_deadline = std::min(env.held_deadline, lane.held_until);
  return true;
}

// The lane has been published up to `end`.
void consider(TransportEnv& env, CompletionQueue& cq, CqLane& lane, uint32_t end) {
  const uint32_t fresh = end - lane.noticed;
  if (fresh == 0) return;
  lane.noticed = end;
  if (wants(cq.armed.load(std::memory_order_relaxed), solicited(lane))) {
    if (!hold_back(env, cq, lane, fresh)) notify(env, cq, lane);
  } else {
    lane.held = 0;
    solicited(lane) = false;
  }
}

void remove_dirty(TransportEnv& env, CompletionQueue& cq) {
  const uint32_t self = env.engine_index;
  CompletionQueue** link = &env.dirty;
  while (*link != nullptr && *link != &cq) link = &(*link)->lanes[self].next_dirty;
  if (*link != nullptr) *link = cq.lanes[self].next_dirty;
  cq.lanes[self].dirty = false;
}

void remove_held(TransportEnv& env, CompletionQueue& cq) {
  for (uint32_t i = 0; i < env.held_count; ++i) {
    if (env.held[i] != &cq) continue;
    env.held[i] = env.held[--env.held_count];
    break;
  }
  cq.lanes[env.engine_index].held_back = false;
}

}  // namespace

bool cq_make_room(TransportEnv& env, CompletionQueue& cq) {
  CqLane& lane = cq.lanes[env.engine_index];
  lane.cached_consumer = lane.consumer.load(std::memory_order_acquire);
  if (lane.written - lane.cached_consumer < lane.depth.load(std::memory_order_relaxed)) return true;
  ++env.counters->cq_overrun;
  if (!cq.overrun.exchange(true, std::memory_order_relaxed)) {
    env.raise(lane.events, EventType::kCqErr, cq.user);
  }
  return false;
}

void cq_mark_dirty(TransportEnv& env, CompletionQueue& cq) {
  CqLane& lane = cq.lanes[env.engine_index];
  lane.dirty = true;
  lane.next_dirty = env.dirty;
  env.dirty = &cq;
}

void cq_hold(TransportEnv& env, CompletionQueue& cq, uint64_t ticket) {
  if (env.grace.over(ticket)) return;
  CqLane& lane = cq.lanes[env.engine_index];
  release(env, lane);
  CqHold& newest = lane.holds[lane.holds[0].ticket != 0 ? 1 : 0];
  if (ticket == newest.ticket || ticket == lane.holds[0].ticket) return;
  UROCE_ASSERT(newest.ticket == 0);
  newest = {ticket, lane.written, lane.solicited};
  lane.solicited = false;
}

bool cq_push(TransportEnv& env, CompletionQueue& cq, const Cqe& cqe) {
  Cqe* entry = cq_claim(env, cq);
  if (entry == nullptr) return false;
  *entry = cqe;
  cq_commit(env, cq, cqe);
  return true;
}

void cq_publish_all(TransportEnv& env) {
  if (env.dirty == nullptr) return;
  const uint32_t self = env.engine_index;
  for (CompletionQueue* cq = env.dirty; cq != nullptr; cq = cq->lanes[self].next_dirty) {
    CqLane& lane = cq->lanes[self];
    if (lane.holds[0].ticket != 0) release(env, lane);
    lane.producer.store(visible_end(lane), std::memory_order_release);
  }
  // One fence for all of them: every lane is published before any `armed` is read.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  CompletionQueue* next = env.dirty;
  env.dirty = nullptr;
  while (next != nullptr) {
    CompletionQueue& cq = *next;
    CqLane& lane = cq.lanes[self];
    next = lane.next_dirty;
    lane.dirty = false;
    // Not beyond what is published: no hold has ended since.
    const uint32_t end = visible_end(lane);
    consider(env, cq, lane, end);
    if (end != lane.written) cq_mark_dirty(env, cq);  // looked at again with the next input
  }
}

void cq_raise_held(TransportEnv& env) {
  if (env.now < env.held_deadline) return;
  env.held_deadline = kNever;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < env.held_count; ++i) {
    CompletionQueue& cq = *env.held[i];
    CqLane& lane = cq.lanes[env.engine_index];
    if (lane.held != 0 && env.now < lane.held_until) {
      env.held_deadline = std::min(env.held_deadline, lane.held_until);
      env.held[kept++] = &cq;
      continue;
    }
    lane.held_back = false;
    if (lane.held != 0) notify(env, cq, lane);
  }
  env.held_count = kept;
}

void cq_forget(TransportEnv& env, CompletionQueue& cq) {
  CqLane& lane = cq.lanes[env.engine_index];
  remove_dirty(env, cq);
  remove_held(env, cq);
  env.events.forget(lane.events);
}

bool cq_has_entries(CompletionQueue& cq) {
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    CqLane& lane = cq.lanes[i];
    const uint32_t end = lane.producer.load(std::memory_order_acquire);
    if (lane.moved.load(std::memory_order_acquire)) cq_follow(lane);
    for (uint32_t at = lane.consumer.load(std::memory_order_relaxed); at != end; ++at) {
      if (lane.read_entries[at & lane.read_mask].qp != nullptr) return true;
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
    if (lane.moved.load(std::memory_order_acquire)) cq_follow(lane);
    for (uint32_t at = lane.consumer.load(std::memory_order_relaxed); at != end; ++at) {
      Cqe& entry = lane.read_entries[at & lane.read_mask];
      if (entry.qp == qp) entry.qp = nullptr;
    }
  }
}

}  // namespace uroce::transport
