// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues of the device: memory, resizing and lifetime.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "device/device.h"
#include "device/queue_memory.h"
#include "transport/qp_memory.h"

namespace uroce::device {
namespace {

// Rings that may wait for the engine to empty them, the one posted to included.
constexpr size_t kRingsMax = 8;

SrqMemory make_ring(uint32_t wr_max, uint32_t sge_max) {
  SrqMemory made;
  made.memory = allocate_queue_memory(transport::srq_ring_memory_bytes(wr_max, sge_max));
  if (made.memory != nullptr) {
    made.ring = transport::carve_srq_ring(wr_max, sge_max, made.memory.get());
  }
  return made;
}

// Frees the rings that the engine has left, those that it cannot reach any more.
void free_left_rings(Srq& srq) {
  SrqHandle& handle = *srq.handle;
  const SpinGuard guard(handle.post_lock, handle.exclusive);
  std::set<const transport::SrqRing*> in_use;
  transport::SrqRing* const current = srq.queue.current.load(std::memory_order_acquire);
  for (const transport::SrqRing* ring = current; ring != nullptr; ring = ring->next) {
    in_use.insert(ring);
  }
  // The posters may not have noticed that they are empty.
  transport::SrqRing*& oldest = handle.poster.oldest;
  if (!in_use.contains(oldest)) oldest = current;
  std::erase_if(srq.rings, [&](const SrqMemory& m) { return !in_use.contains(m.ring); });
}

// -ENOMEM also when too many rings have WQEs that nobody has taken yet.
int resize(Srq& srq, uint32_t wr_max) {
  SrqHandle& handle = *srq.handle;
  const SrqMemory added = make_ring(wr_max, srq.queue.sge_max);
  if (added.ring == nullptr) return -ENOMEM;
  free_left_rings(srq);
  const SpinGuard guard(handle.post_lock, handle.exclusive);
  if (handle.poster.queued() > wr_max) return -EINVAL;
  if (srq.rings.size() >= kRingsMax) return -ENOMEM;
  srq.rings.push_back(added);
  handle.poster.continue_in(*added.ring);
  srq.wr_max = wr_max;
  return 0;
}

}  // namespace

int Device::create_srq(Pd& pd, const SrqRequest& request, SrqHandle& handle) {
  Lock lock(lock_);
  if (closing_) return -ENODEV;
  if (request.wr_max == 0 || request.wr_max > limits_.srq_wr_max ||
      request.sge_max > limits_.sge_max || request.limit > request.wr_max) {
    return -EINVAL;
  }
  std::optional<uint32_t> engine = qpns_.emptiest_engine();
  if (request.xrcd != nullptr) engine = request.xrcd->engine;
  if (request.cq != nullptr && request.cq->busy) return -EBUSY;
  if (!engine || srqs_.size() >= limits_.srq_max) return -ENOMEM;
  auto srq = std::make_unique<Srq>();
  srq->rings.reserve(kRingsMax);
  srq->rings.push_back(make_ring(request.wr_max, request.sge_max));
  transport::SrqRing* const ring = srq->rings.front().ring;
  if (ring == nullptr) return -ENOMEM;
  srq->handle = &handle;
  srq->pd = &pd;
  srq->xrcd = request.xrcd;
  srq->cq = request.cq;
  srq->engine = *engine;
  srq->wr_max = request.wr_max;
  srq->queue.current.store(ring, std::memory_order_release);
  srq->queue.limit.store(request.limit, std::memory_order_relaxed);
  srq->queue.pd = pd.number;
  srq->queue.sge_max = request.sge_max;
  srq->queue.user = request.user;
  handle.poster = {ring, ring};
  handle.sge_max = request.sge_max;
  handle.exclusive = exclusive_;
  if (srq->xrcd != nullptr) {
    const int error = add_xrc_queue(*srq, lock);
    if (error == -ETIMEDOUT) srqs_.emplace(srq.get(), std::move(srq));  // lost, but not freed
    if (error != 0) return error;
  }
  ++pd.use_count;
  const Srq* const key = handle.object = srq.get();
  srqs_.emplace(key, std::move(srq));
  return 0;
}

int Device::modify_srq(SrqHandle& handle, std::optional<uint32_t> wr_max,
                       std::optional<uint32_t> limit) {
  Lock lock(lock_);
  Srq& srq = *handle.object;
  if (srq.busy) return -EBUSY;
  const uint32_t capacity = wr_max.value_or(srq.wr_max);
  const uint32_t armed = limit.value_or(srq.queue.limit.load(std::memory_order_relaxed));
  if (capacity == 0 || capacity > limits_.srq_wr_max || armed > capacity) return -EINVAL;
  if (wr_max) {
    if (const int error = resize(srq, *wr_max); error != 0) return error;
    // What an engine that does not answer keeps is freed with a later resize.
    if (call_srq(engine::Command::Kind::kLeaveSrqRings, srq, lock) == 0) free_left_rings(srq);
  }
  if (limit) srq.queue.limit.store(*limit, std::memory_order_relaxed);
  return 0;
}

SrqState Device::query_srq(const SrqHandle& handle) {
  const std::lock_guard guard(lock_);
  const Srq& srq = *handle.object;
  return {.wr_max = srq.wr_max,
          .sge_max = srq.queue.sge_max,
          .limit = srq.queue.limit.load(std::memory_order_relaxed)};
}

// For the engine that the queue lives on. It stays meanwhile.
int Device::call_srq(engine::Command::Kind kind, Srq& srq, Lock& lock) {
  auto command = std::make_shared<engine::SrqCommand>(kind);
  command->srq = &srq.queue;
  srq.busy = true;
  const int error = caller_.call(srq.engine, command, lock);
  srq.busy = false;
  return error;
}

int Device::destroy_srq(SrqHandle& handle, const Quiesce& quiesce) {
  Lock lock(lock_);
  Srq* const srq = handle.object;
  if (srq->use_count != 0 || srq->busy) return -EBUSY;
  srq->busy = true;
  call_unlocked(quiesce, lock);
  const int error = srq->xrcd != nullptr ? remove_xrc_queue(*srq, lock)
                                         : call_srq(engine::Command::Kind::kForgetSrq, *srq, lock);
  if (error != 0) return error;
  --srq->pd->use_count;
  handle.object = nullptr;
  srqs_.erase(srq);
  return 0;
}

}  // namespace uroce::device
