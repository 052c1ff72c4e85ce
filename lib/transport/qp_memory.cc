// SPDX-License-Identifier: BSD-3-Clause
// Laying out queue pairs and completion queues in one block each.
//
// The layout is computed once by a function that only adds up sizes; both the size and the carving
// come from it, so they cannot disagree. Every part begins on a cache line.
#include "transport/qp_memory.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <type_traits>

#include "base/assert.h"

namespace uroce::transport {
namespace {

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Hands out consecutive parts of a block; adds up only when there is no block.
class Carver {
 public:
  explicit Carver(void* block) : block_(static_cast<uint8_t*>(block)) {}

  uint8_t* bytes(size_t count) {
    uint8_t* part = block_ == nullptr ? nullptr : block_ + used_;
    used_ += round_up(count, kCacheLine);
    return part;
  }
  template <typename T>
  T* objects(size_t count) {
    static_assert(alignof(T) <= kCacheLine);
    uint8_t* part = bytes(count * sizeof(T));
    if (part == nullptr) return nullptr;
    T* first = reinterpret_cast<T*>(part);
    // The block is zeroed, and pages of a large one stay untouched.
    if constexpr (!std::is_trivially_default_constructible_v<T>) {
      std::uninitialized_value_construct_n(first, count);
    }
    return first;
  }
  size_t used() const { return used_; }

 private:
  uint8_t* block_;
  size_t used_ = 0;
};

void shape(WorkQueue& queue, uint32_t depth, size_t slot_bytes) {
  queue.depth = depth;
  queue.mask = std::bit_ceil(std::max(depth, 1u)) - 1;
  queue.slot_bytes = static_cast<uint32_t>(slot_bytes);
}

size_t recv_slot_bytes(uint32_t sge_max) {
  return round_up(sizeof(RecvWqe) + size_t{sge_max} * sizeof(memory::Sge), 32);
}

bool sends_datagrams(QpType type) {
  return type == QpType::kUd || type == QpType::kGsi || type == QpType::kSmi;
}

// Lays out everything behind `queues`, which lies at the start of the carver's block (or is a
// model when there is none).
void lay_out(QpType type, const QpCapabilities& capabilities, QpQueues& queues, Carver& carver) {
  const size_t payload = std::max({size_t{capabilities.send_sge_max} * sizeof(memory::Sge),
                                   size_t{capabilities.inline_bytes_max},
                                   sends_datagrams(type) ? 0 : sizeof(LocalOperation)});
  const size_t address_vector = sends_datagrams(type) ? sizeof(AddressVector) : 0;
  queues.send.has_address_vectors = sends_datagrams(type);
  shape(queues.send, capabilities.send_wr_max,
        round_up(sizeof(SendWqe) + address_vector + payload, alignof(SendWqe)));
  shape(queues.recv, capabilities.recv_wr_max, recv_slot_bytes(capabilities.recv_sge_max));
  const size_t send_slots = size_t{queues.send.mask} + 1;
  const size_t recv_slots = size_t{queues.recv.mask} + 1;
  queues.send.slots = carver.bytes(send_slots * queues.send.slot_bytes);
  queues.recv.slots = carver.bytes(recv_slots * queues.recv.slot_bytes);
  queues.progress = carver.objects<SendProgress>(send_slots);
  if (answers_requests(type)) {
    queues.responses = carver.objects<Response>(kResponsesMax);
    queues.replay = carver.objects<ReplaySlot>(kReadAtomicMax);
  }
}

void lay_out(uint32_t depth, CompletionQueue& cq, Carver& carver) {
  const uint32_t entries = std::bit_ceil(std::max(depth, 1u));
  cq.lanes = carver.objects<CqLane>(cq.lane_count);
  for (uint32_t i = 0; i < cq.lane_count; ++i) {
    Cqe* first = carver.objects<Cqe>(entries);
    if (cq.lanes == nullptr) continue;
    cq.lanes[i].entries = cq.lanes[i].read_entries = first;
    cq.lanes[i].mask = cq.lanes[i].read_mask = entries - 1;
    cq.lanes[i].depth = depth;
  }
}

void lay_out(uint32_t depth, uint32_t sge_max, SrqRing& ring, Carver& carver) {
  shape(ring.queue, depth, recv_slot_bytes(sge_max));
  ring.queue.slots = carver.bytes((size_t{ring.queue.mask} + 1) * ring.queue.slot_bytes);
}

bool aligned(const void* block) { return reinterpret_cast<uintptr_t>(block) % kCacheLine == 0; }

}  // namespace

size_t qp_memory_bytes(QpType type, const QpCapabilities& capabilities) {
  Carver carver(nullptr);
  carver.objects<QpQueues>(1);
  QpQueues model;
  lay_out(type, capabilities, model, carver);
  return carver.used();
}

QpQueues* carve_qp_memory(QpType type, const QpCapabilities& capabilities, void* block) {
  UROCE_ASSERT(block != nullptr && aligned(block));
  Carver carver(block);
  QpQueues* queues = carver.objects<QpQueues>(1);
  lay_out(type, capabilities, *queues, carver);
  return queues;
}

size_t srq_ring_memory_bytes(uint32_t depth, uint32_t sge_max) {
  Carver carver(nullptr);
  carver.objects<SrqRing>(1);
  SrqRing model;
  lay_out(depth, sge_max, model, carver);
  return carver.used();
}

SrqRing* carve_srq_ring(uint32_t depth, uint32_t sge_max, void* block) {
  UROCE_ASSERT(block != nullptr && aligned(block));
  Carver carver(block);
  SrqRing* ring = carver.objects<SrqRing>(1);
  lay_out(depth, sge_max, *ring, carver);
  return ring;
}

size_t cq_memory_bytes(uint32_t depth, uint32_t lanes) {
  Carver carver(nullptr);
  carver.objects<CompletionQueue>(1);
  CompletionQueue model;
  model.lane_count = lanes;
  lay_out(depth, model, carver);
  return carver.used();
}

CompletionQueue* carve_cq_memory(uint32_t depth, uint32_t lanes, void* block) {
  UROCE_ASSERT(block != nullptr && aligned(block) && lanes > 0);
  Carver carver(block);
  CompletionQueue* cq = carver.objects<CompletionQueue>(1);
  cq->lane_count = lanes;
  lay_out(depth, *cq, carver);
  return cq;
}

}  // namespace uroce::transport
