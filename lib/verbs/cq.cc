// SPDX-License-Identifier: BSD-3-Clause
// Completion queues of the native face: creation, notification, callbacks.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <memory>
#include <new>

#include "device/live_objects.h"
#include "transport/completion_queue.h"
#include "verbs/driver.h"
#include "verbs/handles.h"
#include "verbs/object_end.h"

using namespace uroce;
using namespace uroce::verbs;

namespace {

// The handler of queues that the library polls. Armed again before the last look, so that nothing
// waits unseen.
void process_and_arm(ib_cq* cq, void* /*context*/) {
  constexpr auto kAgain =
      static_cast<ib_cq_notify_flags>(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
  do {
    ib_process_cq_direct(cq, -1);
  } while (ib_req_notify_cq(cq, kAgain) > 0);
}

}  // namespace

ib_cq* ib_create_cq(ib_device* device, ib_comp_handler comp_handler,
                    void (*event_handler)(ib_event*, void*), void* cq_context,
                    const ib_cq_init_attr* cq_attr) {
  if (cq_attr->flags != 0 ||
      cq_attr->comp_vector >= static_cast<unsigned>(device->num_comp_vectors)) {
    return error_pointer<ib_cq>(-EINVAL);
  }
  auto* cq = new (std::nothrow) Cq{};
  if (cq == nullptr) return error_pointer<ib_cq>(-ENOMEM);
  cq->device = device;
  cq->comp_handler = comp_handler;
  cq->event_handler = event_handler;
  cq->cq_context = cq_context;
  cq->comp_vector = cq_attr->comp_vector;
  ib_cq* const user = cq;
  if (const int error = of(device).object->create_cq(cq_attr->cqe, user, cq->handle); error != 0) {
    delete cq;
    return error_pointer<ib_cq>(error);
  }
  cq->cqe = static_cast<int>(cq->handle.depth);
  of(device).objects.keep(cq);
  uroce::device::LiveObjects::instance().add(user);
  return cq;
}

int ib_destroy_cq(ib_cq* cq) { return ib_destroy_cq_user(cq, nullptr); }

int ib_destroy_cq_user(ib_cq* cq, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  return end_object(of(cq), cq, [cq](const uroce::device::Quiesce& quiesce) {
    return of(cq->device).object->destroy_cq(of(cq).handle, quiesce);
  });
}

ib_cq* ib_alloc_cq(ib_device* dev, void* private_data, int nr_cqe, int comp_vector,
                   ib_poll_context poll_ctx) {
  const auto context = static_cast<unsigned>(poll_ctx);
  if (context > IB_POLL_DIRECT || nr_cqe < 1 || comp_vector < 0) {
    return error_pointer<ib_cq>(-EINVAL);
  }
  const bool direct = poll_ctx == IB_POLL_DIRECT;
  const ib_cq_init_attr attr{.cqe = static_cast<unsigned>(nr_cqe),
                             .comp_vector = static_cast<__u32>(comp_vector),
                             .flags = 0};
  ib_cq* cq = ib_create_cq(dev, direct ? nullptr : process_and_arm, nullptr, private_data, &attr);
  if (uroce_is_err(cq)) return cq;
  cq->poll_ctx = poll_ctx;
  if (!direct) ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
  return cq;
}

ib_cq* ib_alloc_cq_any(ib_device* dev, void* private_data, int nr_cqe, ib_poll_context poll_ctx) {
  static std::atomic<unsigned> turn;
  const unsigned next = turn.fetch_add(1, std::memory_order_relaxed) + 1;
  const int vector = static_cast<int>(next % static_cast<unsigned>(dev->num_comp_vectors));
  return ib_alloc_cq(dev, private_data, nr_cqe, vector, poll_ctx);
}

void ib_free_cq(ib_cq* cq) { ib_destroy_cq(cq); }

int ib_process_cq_direct(ib_cq* cq, int budget) {
  ib_wc batch[8];
  int total = 0;
  while (budget < 0 || total < budget) {
    const int room = static_cast<int>(std::size(batch));
    const int wanted = budget < 0 ? room : std::min(room, budget - total);
    const int count = ib_poll_cq(cq, wanted, batch);
    for (int i = 0; i < count; ++i) {
      if (batch[i].wr_cqe != nullptr) batch[i].wr_cqe->done(cq, &batch[i]);
    }
    total += count;
    if (count < wanted) break;
  }
  return total;
}

int ib_req_notify_cq(ib_cq* cq, ib_cq_notify_flags flags) {
  const unsigned what = flags & IB_CQ_SOLICITED_MASK;
  const unsigned known = IB_CQ_SOLICITED_MASK | IB_CQ_REPORT_MISSED_EVENTS;
  if ((what != IB_CQ_SOLICITED && what != IB_CQ_NEXT_COMP) || (flags & ~known) != 0) {
    return -EINVAL;
  }
  uroce::device::CqHandle& handle = of(cq).handle;
  const uroce::device::SpinGuard guard(handle.poll_lock, handle.exclusive);
  const bool waiting =
      transport::cq_arm(*handle.queue, what == IB_CQ_NEXT_COMP ? transport::CqArm::kNextComp
                                                               : transport::CqArm::kSolicited);
  return waiting && (flags & IB_CQ_REPORT_MISSED_EVENTS) != 0 ? 1 : 0;
}

int ib_resize_cq(ib_cq* cq, int cqe) {
  if (cqe < 1) return -EINVAL;
  const int error = of(cq->device).object->resize_cq(of(cq).handle, static_cast<uint32_t>(cqe));
  if (error == 0) cq->cqe = cqe;
  return error;
}

int driver::modify_cq(ib_cq* cq, __u16 cq_count, __u16 cq_period) {
  of(cq).handle.queue->moderation.store({.count = cq_count, .period_us = cq_period},
                                        std::memory_order_relaxed);
  return 0;
}
