// SPDX-License-Identifier: BSD-3-Clause
// Completion queues of the device: memory and lifetime.
#include <cerrno>
#include <memory>

#include "device/device.h"
#include "device/queue_memory.h"
#include "transport/completion_resize.h"
#include "transport/qp_memory.h"

namespace uroce::device {
namespace {

void follow(CqHandle& handle) {
  const SpinGuard guard(handle.poll_lock, handle.exclusive);
  transport::cq_follow_all(*handle.queue);
}

}  // namespace

int Device::create_cq(uint32_t depth, void* user, CqHandle& handle) {
  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  if (depth == 0 || depth > limits_.cqe_max) return -EINVAL;
  if (cqs_.size() >= limits_.cq_max) return -ENOMEM;
  const uint32_t lanes = engine_count();
  auto cq = std::make_unique<Cq>();
  cq->memory = allocate_queue_memory(transport::cq_memory_bytes(depth, lanes));
  if (cq->memory == nullptr) return -ENOMEM;
  handle.queue = transport::carve_cq_memory(depth, lanes, cq->memory.get());
  handle.queue->user = user;
  handle.exclusive = exclusive_;
  handle.depth = depth;
  cq->handle = &handle;
  const Cq* const key = handle.object = cq.get();
  cqs_.emplace(key, std::move(cq));
  return 0;
}

int Device::switch_ring(uint32_t engine, const CqHandle& handle,
                        const std::shared_ptr<void>& memory, uint32_t entries, Lock& lock) {
  auto command = std::make_shared<engine::ResizeCqCommand>();
  command->cq = handle.queue;
  command->rings = static_cast<transport::Cqe*>(memory.get());
  command->entries = entries;
  return caller_.call(engine, command, lock, kEngineCallLimit, false, memory);
}

int Device::resize_cq(CqHandle& handle, uint32_t depth) {
  Lock lock(lock_);
  Cq& cq = *handle.object;
  if (closing_) return -ENODEV;
  if (depth == 0 || depth > limits_.cqe_max) return -EINVAL;
  if (cq.busy) return -EBUSY;
  {
    const SpinGuard guard(handle.poll_lock, handle.exclusive);
    if (transport::cq_most_waiting(*handle.queue) > depth) return -EINVAL;
    transport::cq_follow_all(*handle.queue);
  }
  const uint32_t entries = transport::resized_entries(handle.depth, depth);
  const std::shared_ptr<void> memory =
      allocate_queue_memory(size_t{entries} * engine_count() * sizeof(transport::Cqe));
  if (memory == nullptr) return -ENOMEM;
  cq.rings.push_back(memory);
  cq.busy = true;
  int error = 0;
  for (uint32_t i = 0; i < engine_count() && error == 0; ++i) {
    error = switch_ring(i, handle, memory, entries, lock);
    // A resize that timed out has reached the engine only now: it is followed, too.
    if (error == -EBUSY) {
      follow(handle);
      error = switch_ring(i, handle, memory, entries, lock);
    }
  }
  cq.busy = false;
  if (error != 0) return error;
  transport::cq_set_depth(*handle.queue, depth);
  follow(handle);
  cq.rings.assign(1, memory);  // nobody looks at those before
  handle.depth = depth;
  handle.queue->overrun.store(false, std::memory_order_relaxed);
  return 0;
}

int Device::destroy_cq(CqHandle& handle, const Quiesce& quiesce) {
  Lock lock(lock_);
  Cq* const cq = handle.object;
  if (cq->use_count != 0 || cq->busy) return -EBUSY;
  cq->busy = true;
  call_unlocked(quiesce, lock);
  handle.queue->armed.store(transport::CqArm::kNone, std::memory_order_seq_cst);
  const int error = caller_.call_all(lock, [&] {
    auto command = std::make_shared<engine::ForgetCqCommand>();
    command->cq = handle.queue;
    return command;
  });
  cq->busy = false;
  if (error != 0) return error;
  cqs_.erase(cq);
  handle.object = nullptr;
  return 0;
}

}  // namespace uroce::device
