// SPDX-License-Identifier: BSD-3-Clause
// Completion queues of the device: memory and lifetime.
#include <cerrno>
#include <memory>

#include "device/device.h"
#include "device/queue_memory.h"
#include "transport/qp_memory.h"

namespace uroce::device {

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

int Device::destroy_cq(CqHandle& handle) {
  Lock lock(lock_);
  Cq* const cq = handle.object;
  if (cq->use_count != 0) return -EBUSY;
  // An engine may still have it on its list of queues to publish: disarmed, it leaves the list at
  // the end of the engine's next input, and the barrier is one.
  handle.queue->armed.store(transport::CqArm::kNone, std::memory_order_seq_cst);
  const int error =
      caller_.call_all(lock, [] { return std::make_shared<engine::BarrierCommand>(); });
  if (error != 0) return error;
  cqs_.erase(cq);
  handle.object = nullptr;
  return 0;
}

}  // namespace uroce::device
