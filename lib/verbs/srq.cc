// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues of the native face as objects: creation, change, query, end.
#include <cerrno>
#include <new>
#include <optional>

#include "device/live_objects.h"
#include "verbs/driver.h"
#include "verbs/handles.h"
#include "verbs/object_end.h"

using namespace uroce;
using namespace uroce::verbs;

ib_srq* driver::create_srq(ib_pd* pd, ib_srq_init_attr* srq_init_attr) {
  const bool xrc = srq_init_attr->srq_type == IB_SRQT_XRC;
  if (!xrc && srq_init_attr->srq_type != IB_SRQT_BASIC) return error_pointer<ib_srq>(-EOPNOTSUPP);
  const auto& ext = srq_init_attr->ext;
  if (xrc && (ext.cq == nullptr || ext.xrc.xrcd == nullptr || ext.cq->device != pd->device ||
              ext.xrc.xrcd->device != pd->device)) {
    return error_pointer<ib_srq>(-EINVAL);
  }
  auto* srq = new (std::nothrow) Srq{};
  if (srq == nullptr) return error_pointer<ib_srq>(-ENOMEM);
  srq->device = pd->device;
  srq->pd = pd;
  srq->event_handler = srq_init_attr->event_handler;
  srq->srq_context = srq_init_attr->srq_context;
  srq->srq_type = srq_init_attr->srq_type;
  ib_srq* const user = srq;
  const uroce::device::SrqRequest request{.xrcd = xrc ? of(ext.xrc.xrcd).object : nullptr,
                                          .cq = xrc ? of(ext.cq).handle.object : nullptr,
                                          .wr_max = srq_init_attr->attr.max_wr,
                                          .sge_max = srq_init_attr->attr.max_sge,
                                          .limit = srq_init_attr->attr.srq_limit,
                                          .user = user};
  if (const int error = device_of(*pd).create_srq(*of(pd).object, request, srq->handle);
      error != 0) {
    delete srq;
    return error_pointer<ib_srq>(error);
  }
  if (xrc) {
    srq->ext.cq = ext.cq;
    srq->ext.xrc.xrcd = ext.xrc.xrcd;
    srq->ext.xrc.srq_num = srq->handle.object->queue.number;
  }
  of(pd->device).objects.keep(srq);
  uroce::device::LiveObjects::instance().add(user);
  return srq;
}

int driver::modify_srq(ib_srq* srq, ib_srq_attr* srq_attr, ib_srq_attr_mask mask) {
  const auto bits = static_cast<unsigned>(mask);
  if ((bits & ~unsigned{IB_SRQ_MAX_WR | IB_SRQ_LIMIT}) != 0) return -EINVAL;
  std::optional<uint32_t> wr_max;
  std::optional<uint32_t> limit;
  if ((bits & IB_SRQ_MAX_WR) != 0) wr_max = srq_attr->max_wr;
  if ((bits & IB_SRQ_LIMIT) != 0) limit = srq_attr->srq_limit;
  return device_of(*srq->pd).modify_srq(of(srq).handle, wr_max, limit);
}

int driver::query_srq(ib_srq* srq, ib_srq_attr* srq_attr) {
  const uroce::device::SrqState now = device_of(*srq->pd).query_srq(of(srq).handle);
  *srq_attr = {.max_wr = now.wr_max, .max_sge = now.sge_max, .srq_limit = now.limit};
  return 0;
}

int ib_destroy_srq(ib_srq* srq) { return ib_destroy_srq_user(srq, nullptr); }

int ib_destroy_srq_user(ib_srq* srq, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  return end_object(of(srq), srq, [srq](const uroce::device::Quiesce& quiesce) {
    return device_of(*srq->pd).destroy_srq(of(srq).handle, quiesce);
  });
}
