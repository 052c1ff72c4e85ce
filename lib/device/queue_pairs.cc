// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs of the device: creation, change, query and end, as commands for the owning engine.
#include <cerrno>
#include <memory>

#include "base/assert.h"
#include "device/device.h"
#include "device/path.h"
#include "device/qp_checks.h"
#include "device/queue_memory.h"
#include "transport/qp_memory.h"

namespace uroce::device {
namespace {

using transport::QpState;
using transport::QpType;

QpState state_of(const QpHandle& handle) {
  return handle.queues->state_word.load(std::memory_order_acquire);
}

// With shared receive queues the queue pair's own one holds the WQE of the message in progress; an
// XRC target's may come from any queue of its domain.
transport::QpCapabilities capabilities_in_memory(const QpRequest& request, uint32_t sge_max) {
  transport::QpCapabilities capabilities = request.capabilities;
  if (request.srq != nullptr || request.type == QpType::kXrcTgt) {
    capabilities.recv_wr_max = 1;
    capabilities.recv_sge_max = request.srq != nullptr ? request.srq->queue.sge_max : sge_max;
  }
  return capabilities;
}

// An initiator receives nothing, whatever the request says.
QpRequest for_initiator(const QpRequest& request) {
  QpRequest initiator = request;
  initiator.recv_cq = nullptr;
  initiator.capabilities.recv_wr_max = initiator.capabilities.recv_sge_max = 0;
  return initiator;
}

transport::CompletionQueue* queue_of(const Cq* cq) {
  return cq != nullptr ? cq->handle->queue : nullptr;
}

template <typename T>
bool is_busy(const T* object) {
  return object != nullptr && object->busy;
}

// One more or one less that uses the object, where there is one.
template <typename T>
void count_use(T* object, int by) {
  if (object != nullptr) object->use_count += static_cast<uint32_t>(by);
}

void count_uses(const Qp& qp, int by) {
  count_use(qp.pd, by);
  count_use(qp.send_cq, by);
  count_use(qp.recv_cq, by);
  count_use(qp.srq, by);
  count_use(qp.xrcd, by);
}

void take_back(Cq& cq, const void* user) {
  CqHandle& handle = *cq.handle;
  const SpinGuard guard(handle.poll_lock, handle.exclusive);
  transport::cq_take_back(*handle.queue, user);
}

}  // namespace

int Device::check_request(const QpRequest& request) const {
  if (!transport::is_connected(request.type) && request.type != QpType::kUd &&
      request.type != QpType::kGsi) {
    return -EOPNOTSUPP;
  }
  if (request.block_multicast_loopback && request.type != QpType::kUd) return -EOPNOTSUPP;
  if (request.type == QpType::kXrcTgt) return 0;
  const bool initiator = request.type == QpType::kXrcIni;
  if (request.send_cq == nullptr || (request.recv_cq == nullptr && !initiator)) return -EINVAL;
  if (request.srq != nullptr && initiator) return -EINVAL;
  if (is_busy(request.send_cq) || is_busy(request.recv_cq) || is_busy(request.srq)) return -EBUSY;
  const transport::QpCapabilities& caps = request.capabilities;
  if (caps.send_wr_max > limits_.qp_wr_max || caps.send_sge_max > limits_.sge_max ||
      caps.inline_bytes_max > limits_.inline_bytes_max) {
    return -EINVAL;
  }
  if (request.srq != nullptr) {
    if (request.type == QpType::kGsi) return -EINVAL;
  } else if (caps.recv_wr_max > limits_.qp_wr_max || caps.recv_sge_max > limits_.sge_max) {
    return -EINVAL;
  }
  return request.type == QpType::kGsi && gsi_exists_ ? -EINVAL : 0;
}

void Device::fill_handle(const Qp& qp, QpHandle& handle) {
  handle.doorbells = &caller_.seat(qp.engine).engine().doorbells();
  handle.slot = engine::QpnLayout::of(shared_).slot_of(qp.qpn);
  handle.qpn = qp.qpn;
  handle.type = qp.type;
  handle.exclusive = exclusive_;
  handle.shares_receives = qp.srq != nullptr || qp.recv_cq == nullptr;
  handle.capabilities = qp.capabilities;
  handle.pd = qp.pd;
  handle.port_mtu_bytes = &mtu_bytes_;
}

int Device::create_qp(Pd& pd, const QpRequest& request, QpHandle& handle) {
  if (request.type == QpType::kXrcTgt) return -EINVAL;
  return make_qp(&pd, request.type == QpType::kXrcIni ? for_initiator(request) : request, handle);
}

// `pd` is nullptr for an XRC target.
int Device::make_qp(Pd* pd, const QpRequest& request, QpHandle& handle) {
  Lock lock(lock_);
  if (closing_) return -ENODEV;
  if (const int error = check_request(request); error != 0) return error;
  const bool gsi = request.type == QpType::kGsi;
  std::optional<uint32_t> engine = gsi ? 0 : qpns_.emptiest_engine();
  if (request.srq != nullptr) engine = request.srq->engine;
  if (request.xrcd != nullptr) engine = request.xrcd->engine;
  if (!engine || (!gsi && !qpns_.has_free(*engine))) return -ENOMEM;
  auto qp = std::make_unique<Qp>();
  const transport::QpCapabilities laid_out = capabilities_in_memory(request, limits_.sge_max);
  qp->memory = allocate_queue_memory(transport::qp_memory_bytes(request.type, laid_out));
  if (qp->memory == nullptr) return -ENOMEM;
  handle.queues = transport::carve_qp_memory(request.type, laid_out, qp->memory.get());
  qp->handle = &handle;
  qp->pd = pd;
  qp->send_cq = request.send_cq;
  qp->recv_cq = request.recv_cq;
  qp->srq = request.srq;
  qp->xrcd = request.xrcd;
  qp->user = request.user;
  qp->type = request.type;
  qp->engine = *engine;
  qp->qpn = gsi ? kGsiQpn : *qpns_.take(*engine);
  qp->capabilities = request.capabilities;
  if (qp->srq != nullptr) qp->capabilities.recv_wr_max = qp->capabilities.recv_sge_max = 0;
  qp->signal_all = request.signal_all;
  qp->block_multicast_loopback = request.block_multicast_loopback;

  auto command = std::make_shared<engine::CreateQpCommand>();
  command->qpn = qp->qpn;
  command->type = qp->type;
  command->pd = pd != nullptr ? pd->number : 0;
  command->signal_all = qp->signal_all;
  command->block_multicast_loopback = qp->block_multicast_loopback;
  command->queues = handle.queues;
  command->send_cq = queue_of(qp->send_cq);
  command->recv_cq = queue_of(qp->recv_cq);
  command->xrc_domain = qp->xrcd != nullptr ? qp->xrcd->number : 0;
  command->srq = qp->srq != nullptr ? &qp->srq->queue : nullptr;
  command->user = qp->user;
  const int error = caller_.call(qp->engine, command, lock, kEngineCallLimit, false, qp->memory);
  if (error != 0) {
    // After a timeout the engine may yet take the QPN: it is lost.
    if (!gsi && error != -ETIMEDOUT) qpns_.give(qp->qpn);
    return error;
  }
  fill_handle(*qp, handle);
  count_uses(*qp, 1);
  gsi_exists_ = gsi_exists_ || gsi;
  handle.object = qp.get();
  const uint32_t key = qp->qpn.value();
  qps_.emplace(key, std::move(qp));
  return 0;
}

int Device::modify_qp(QpHandle& handle, const QpChange& change) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  if ((change.mask & ~kAttrMaskAll) != 0) return -EOPNOTSUPP;
  if (qp.busy) return -EBUSY;
  const bool with_path = (change.mask & transport::kAttrAv) != 0;
  AhAttributes path = change.path;
  if (with_path) {
    Gid sgid;
    if (const int error = check_path(path, gids_, sgid); error != 0) return error;
    if (path.dgid.is_multicast()) return -EINVAL;  // a connection has one other end
  }
  if (const int error = check_attribute_values(change.attributes, change.mask, active_mtu_);
      error != 0) {
    return error;
  }
  if (const int error = check_transition(change.attributes, change.mask, qp.type, state_of(handle));
      error != 0) {
    return error;
  }
  auto command = std::make_shared<engine::ModifyQpCommand>();
  command->qpn = qp.qpn;
  command->attributes = change.attributes;
  command->mask = change.mask;
  const uint32_t dest_qpn = (change.mask & transport::kAttrDestQpn) != 0
                                ? change.attributes.dest_qpn.value()
                                : qp.dest_qpn;
  qp.busy = true;
  int error = 0;
  if (with_path) {
    error = build_path(path, false, lock, command->attributes.av);
    if (error == 0) set_source_port(command->attributes.av, qp.qpn.value(), dest_qpn);
  }
  if (error == 0) {
    error = caller_.call(qp.engine, command, lock);
    if (error != 0 && with_path) gids_.release(path.sgid_index);
  }
  qp.busy = false;
  if (error != 0) return error;
  if ((change.mask & transport::kAttrState) != 0 && change.attributes.state == QpState::kReset) {
    take_back_completions(qp);
  }
  qp.dest_qpn = dest_qpn;
  if (with_path) {
    if (qp.has_path) gids_.release(qp.path.sgid_index);
    qp.path = path;
    qp.has_path = true;
  }
  return 0;
}

int Device::query_qp(QpHandle& handle, QpChange& change) {
  Lock lock(lock_);
  const Qp& qp = *handle.object;
  auto command = std::make_shared<engine::QueryQpCommand>();
  command->qpn = qp.qpn;
  if (const int error = caller_.call(qp.engine, command, lock); error != 0) return error;
  change.attributes = command->attributes;
  change.path = qp.path;
  change.mask = qp.has_path ? uint32_t{transport::kAttrAv} : 0;
  return 0;
}

// Takes the unpolled completions of a queue pair that is destroyed or reset out of its CQs: they
// would name a handle that is gone, or work of before (IBA leaves it open; mlx5's user library does
// the same). The engine has published all of them.
void Device::take_back_completions(const Qp& qp) {
  if (qp.type == QpType::kXrcTgt) {
    // Its receives went to the CQs of shared receive queues, some of which may have gone.
    for (const auto& entry : cqs_) take_back(*entry.second, qp.user);
  } else {
    take_back(*qp.send_cq, qp.user);
    if (qp.recv_cq != nullptr && qp.recv_cq != qp.send_cq) take_back(*qp.recv_cq, qp.user);
  }
}

// Gives back what the queue pair held, once no engine knows it any more.
void Device::release_qp(Qp& qp) {
  take_back_completions(qp);
  // Windows of type 2 end with the queue pair that bound them.
  for (const auto& entry : mws_) shared_.keys->end_binding(entry.second->key.index(), qp.qpn);
  if (qp.has_path) gids_.release(qp.path.sgid_index);
  if (qp.type == QpType::kGsi) {
    gsi_exists_ = false;
  } else {
    qpns_.give(qp.qpn);
  }
  count_uses(qp, -1);
  qp.handle->object = nullptr;
  qps_.erase(qp.qpn.value());
}

int Device::destroy_qp(QpHandle& handle, const Quiesce& quiesce) {
  Lock lock(lock_);
  Qp& qp = *handle.object;
  // IBA o10-2.2.3: a member of a group stays.
  if (!qp.groups.empty() || qp.busy) return -EBUSY;
  qp.busy = true;
  call_unlocked(quiesce, lock);
  auto command = std::make_shared<engine::DestroyQpCommand>();
  command->qpn = qp.qpn;
  command->again = qp.ending;
  // Done: all that it completed is published, so it can be taken back.
  const int error = caller_.call(qp.engine, command, lock, kEngineCallLimit, false, qp.memory);
  qp.busy = false;
  qp.ending = qp.ending || error == -ETIMEDOUT;
  if (error == 0) release_qp(qp);
  return error;
}

}  // namespace uroce::device
