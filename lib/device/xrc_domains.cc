// SPDX-License-Identifier: BSD-3-Clause
// XRC domains of the device, their target queue pairs and their shared receive queues.
//
// Targets and shared receive queues do not refer to each other: a request names a queue by number,
// and the engine, which is the same for all of the domain, looks it up. So a queue may go while
// there are targets; the engine then lets it go from each.
#include <cerrno>
#include <memory>

#include "device/device.h"
#include "transport/xrc_queue_table.h"

namespace uroce::device {

int Device::create_xrcd(Xrcd*& xrcd) {
  const std::lock_guard guard(lock_);
  if (closing_) return -ENODEV;
  const std::optional<uint32_t> engine = qpns_.emptiest_engine();
  if (!engine || xrcds_.size() >= limits_.xrcd_max) return -ENOMEM;
  auto made = std::make_unique<Xrcd>();
  made->number = next_xrcd_++;
  made->engine = *engine;
  xrcd = made.get();
  xrcds_.emplace(xrcd, std::move(made));
  return 0;
}

int Device::destroy_xrcd(Xrcd& xrcd) {
  const std::lock_guard guard(lock_);
  if (xrcd.use_count != 0) return -EBUSY;
  xrcds_.erase(&xrcd);
  return 0;
}

int Device::create_xrc_target(const QpRequest& request, QpHandle& handle) {
  if (request.xrcd == nullptr || request.srq != nullptr) return -EINVAL;
  QpRequest target = request;
  target.send_cq = target.recv_cq = nullptr;
  target.capabilities = {};
  return make_qp(nullptr, target, handle);
}

// Gives the queue its number and makes it known. After -ETIMEDOUT the engine may yet take it in: it
// holds what it uses then, and the caller keeps it.
int Device::add_xrc_queue(Srq& srq, Lock& lock) {
  if (!xrc_numbers_) xrc_numbers_.emplace(transport::XrcQueueTable::kQueuesMax, ids_);
  const std::optional<Key> number = xrc_numbers_->take();
  if (!number) return -ENOMEM;
  srq.queue.number = number->value();
  srq.queue.domain = srq.xrcd->number;
  srq.queue.cq = srq.cq->handle->queue;
  const int error = call_srq(engine::Command::Kind::kAddXrcQueue, srq, lock);
  if (error != 0 && error != -ETIMEDOUT) {
    xrc_numbers_->give(*number);
    return error;
  }
  ++srq.xrcd->use_count;
  ++srq.cq->use_count;
  return error;
}

int Device::remove_xrc_queue(Srq& srq, Lock& lock) {
  const int error = call_srq(engine::Command::Kind::kRemoveXrcQueue, srq, lock);
  if (error != 0) return error;
  xrc_numbers_->give(Key(srq.queue.number));
  --srq.xrcd->use_count;
  --srq.cq->use_count;
  return 0;
}

}  // namespace uroce::device
