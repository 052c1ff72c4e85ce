// SPDX-License-Identifier: BSD-3-Clause
// Resizing a completion queue while engines fill it and a consumer empties it.
//
// The engine publishes what it has written, notes the index, and writes on in the new ring; indexes
// go on. The consumer, when it finds that, copies the entries before that index that still wait to
// where they belong in the new ring, and reads there from then on: order and number stay. The
// engine writes there at the same time, but to other slots: the new ring has room for all entries
// that can be waiting, and a lane is full by the distance of the indexes, whichever ring they are
// in.
//
// How many entries a lane holds changes last, for all lanes at once: a resize that does not reach
// every engine leaves the queue as deep as it was, and can be done again.
#include "transport/completion_resize.h"

#include <algorithm>
#include <bit>
#include <cerrno>

#include "transport/transport_env.h"

namespace uroce::transport {

uint32_t resized_entries(uint32_t depth_before, uint32_t depth) {
  return std::bit_ceil(std::max({depth_before, depth, 1u}));
}

int cq_switch_ring(TransportEnv& env, CompletionQueue& cq, Cqe* ring, uint32_t entries) {
  CqLane& lane = cq.lanes[env.engine_index];
  if (lane.moved.load(std::memory_order_acquire)) return -EBUSY;
  cq_publish_all(env);
  lane.moved_from = lane.written;
  lane.entries = ring;
  lane.mask = entries - 1;
  lane.moved.store(true, std::memory_order_release);
  return 0;
}

void cq_set_depth(CompletionQueue& cq, uint32_t depth) {
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    cq.lanes[i].depth.store(depth, std::memory_order_relaxed);
  }
}

void cq_follow(CqLane& lane) {
  for (uint32_t at = lane.consumer.load(std::memory_order_relaxed); at != lane.moved_from; ++at) {
    lane.entries[at & lane.mask] = lane.read_entries[at & lane.read_mask];
  }
  lane.read_entries = lane.entries;
  lane.read_mask = lane.mask;
  lane.moved.store(false, std::memory_order_release);
}

void cq_follow_all(CompletionQueue& cq) {
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    if (cq.lanes[i].moved.load(std::memory_order_acquire)) cq_follow(cq.lanes[i]);
  }
}

uint32_t cq_most_waiting(const CompletionQueue& cq) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    const CqLane& lane = cq.lanes[i];
    const uint32_t taken = lane.consumer.load(std::memory_order_relaxed);
    most = std::max(most, lane.producer.load(std::memory_order_acquire) - taken);
  }
  return most;
}

}  // namespace uroce::transport
