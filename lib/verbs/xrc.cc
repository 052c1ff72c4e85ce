// SPDX-License-Identifier: BSD-3-Clause
// XRC domains of the native face, and target queue pairs with their handles.
//
#include "verbs/xrc.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "device/live_objects.h"
#include "verbs/object_end.h"

namespace uroce::verbs {
namespace {

// Makes `handle` one onto `real`, ready for its events, and takes it over.
Qp& make_handle(Xrcd& xrcd, Qp& real, Qp* handle) {
  handle->device = real.device;
  handle->xrcd = &xrcd;
  handle->real_qp = &real;
  handle->qp_num = real.qp_num;
  handle->qp_type = real.qp_type;
  handle->port = real.port;
  device::share_handle(real.handle, handle->handle);
  of(real.device).objects.keep(handle);
  device::LiveObjects::instance().add(static_cast<ib_qp*>(handle));
  return *handle;
}

// Ends the target, which nobody else has open, and `last`, the handle.
int end_target(Xrcd& xrcd, Qp& real, Qp& last) {
  device::LiveObjects& live = device::LiveObjects::instance();
  const __u32 number = real.qp_num;
  ib_qp* const user = &real;
  ib_qp* const handle = &last;
  bool quiet = false;
  const int error = end_object(real, user, [&](const device::Quiesce& quiesce) {
    return of(real.device).object->destroy_qp(real.handle, [&] {
      quiesce();
      live.remove(handle);
      xrcd.targets.ended(number);
      quiet = true;
    });
  });
  if (error == 0) {
    live.rest(of(last.device).objects.give_up(&last));
    return 0;
  }
  if (quiet) live.add(handle);
  xrcd.targets.add(number, real, last);
  return error;
}

}  // namespace

ib_qp* create_target(ib_qp_init_attr& init) {
  Xrcd& xrcd = of(init.xrcd);
  std::unique_ptr<Qp> real(new (std::nothrow) Qp{});
  std::unique_ptr<Qp> handle(new (std::nothrow) Qp{});
  if (real == nullptr || handle == nullptr) return error_pointer<ib_qp>(-ENOMEM);
  ib_qp* const user = real.get();
  real->device = xrcd.device;
  real->xrcd = &xrcd;
  real->real_qp = user;
  real->qp_type = init.qp_type;
  real->port = 1;
  device::QpRequest request;
  request.type = transport::QpType::kXrcTgt;
  request.xrcd = xrcd.object;
  request.user = user;
  device::LiveObjects::instance().add(user);
  if (const int error = of(xrcd.device).object->create_xrc_target(request, real->handle);
      error != 0) {
    device::LiveObjects::instance().remove(user);
    return error_pointer<ib_qp>(error);
  }
  real->qp_num = real->handle.qpn.value();
  handle->event_handler = init.event_handler;
  handle->qp_context = init.qp_context;
  init.cap = {};
  of(xrcd.device).objects.keep(real.get());
  Qp& target = *real.release();
  Qp& first = make_handle(xrcd, target, handle.release());
  xrcd.targets.add(target.qp_num, target, first);
  return &first;
}

int close_handle(ib_qp& qp) {
  Xrcd& xrcd = of(qp.xrcd);
  Qp* real = nullptr;
  if (const int error = xrcd.targets.close(qp.qp_num, of(&qp), real); error != 0) return error;
  if (real != nullptr) return end_target(xrcd, *real, of(&qp));
  device::LiveObjects::instance().remove(&qp);
  device::LiveObjects::instance().rest(of(qp.device).objects.give_up(&of(&qp)));
  return 0;
}

void deliver_to_handles(const ib_qp& target, transport::EventType type) {
  of(target.xrcd).targets.tell(target.qp_num, [type](Qp& handle) {
    if (handle.event_handler == nullptr) return;
    ib_event event{};
    event.device = handle.device;
    event.event = static_cast<ib_event_type>(type);
    event.element.qp = &handle;
    handle.event_handler(&event, handle.qp_context);
  });
}

}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

ib_xrcd* ib_alloc_xrcd(ib_device* device) {
  std::unique_ptr<Xrcd> xrcd(new (std::nothrow) Xrcd{});
  if (xrcd == nullptr) return error_pointer<ib_xrcd>(-ENOMEM);
  xrcd->device = device;
  if (const int error = of(device).object->create_xrcd(xrcd->object); error != 0) {
    return error_pointer<ib_xrcd>(error);
  }
  of(device).objects.keep(xrcd.get());
  return xrcd.release();
}

int ib_dealloc_xrcd(ib_xrcd* xrcd) {
  if (const int error = of(xrcd->device).object->destroy_xrcd(*of(xrcd).object); error != 0) {
    return error;
  }
  // Kept a while: an event of one of its targets may still be on its way.
  uroce::device::LiveObjects::instance().rest(of(xrcd->device).objects.give_up(&of(xrcd)));
  return 0;
}

ib_qp* ib_open_qp(ib_xrcd* xrcd, ib_qp_open_attr* qp_open_attr) {
  if (qp_open_attr->qp_type != IB_QPT_XRC_TGT) return error_pointer<ib_qp>(-EINVAL);
  std::unique_ptr<Qp> handle(new (std::nothrow) Qp{});
  if (handle == nullptr) return error_pointer<ib_qp>(-ENOMEM);
  handle->event_handler = qp_open_attr->event_handler;
  handle->qp_context = qp_open_attr->qp_context;
  Qp* opened = nullptr;
  const int error = of(xrcd).targets.open(qp_open_attr->qp_num, [&](Qp& real) -> Qp& {
    opened = &make_handle(of(xrcd), real, handle.release());
    return *opened;
  });
  return error == 0 ? opened : error_pointer<ib_qp>(error);
}

int ib_close_qp(ib_qp* qp) { return is_target_handle(*qp) ? close_handle(*qp) : -EINVAL; }
