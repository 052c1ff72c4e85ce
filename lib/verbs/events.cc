// SPDX-License-Identifier: BSD-3-Clause
// Events on their way to the application's handlers: completions, asynchronous events, the port's.
#include <vector>

#include "device/event_delivery.h"
#include "device/live_objects.h"
#include "verbs/face.h"
#include "verbs/handles.h"
#include "verbs/xrc.h"

namespace uroce::verbs {
namespace {

ib_event event_of(ib_device* device, transport::EventType type) {
  ib_event event{};
  event.device = device;
  event.event = static_cast<ib_event_type>(type);
  return event;
}

void deliver_to_cq(ib_cq& cq, transport::EventType type) {
  if (type == transport::EventType::kCompletion) {
    if (cq.comp_handler != nullptr) cq.comp_handler(&cq, cq.cq_context);
    return;
  }
  if (cq.event_handler == nullptr) return;
  ib_event event = event_of(cq.device, type);
  event.element.cq = &cq;
  cq.event_handler(&event, cq.cq_context);
}

void deliver_to_qp(ib_qp& qp, transport::EventType type) {
  if (qp.qp_type == IB_QPT_XRC_TGT) return deliver_to_handles(qp, type);
  if (qp.event_handler == nullptr) return;
  ib_event event = event_of(qp.device, type);
  event.element.qp = &qp;
  qp.event_handler(&event, qp.qp_context);
}

void deliver_to_srq(ib_srq& srq, transport::EventType type) {
  if (srq.event_handler == nullptr) return;
  ib_event event = event_of(srq.device, type);
  event.element.srq = &srq;
  srq.event_handler(&event, srq.srq_context);
}

void deliver(const transport::Event& event) {
  switch (event.type) {
    case transport::EventType::kCompletion:
    case transport::EventType::kCqErr:
      return deliver_to_cq(*static_cast<ib_cq*>(event.object), event.type);
    case transport::EventType::kSrqErr:
    case transport::EventType::kSrqLimitReached:
      return deliver_to_srq(*static_cast<ib_srq*>(event.object), event.type);
    default:
      return deliver_to_qp(*static_cast<ib_qp*>(event.object), event.type);
  }
}

}  // namespace

void dispatch_event(const transport::Event& event) { device::dispatch_to_live(event, deliver); }

// The device's event sink: every registered handler, the newest first.
void deliver_port_event(void* context, transport::EventType type) {
  Device& device = *static_cast<Device*>(context);
  std::vector<ib_event_handler*> handlers;
  {
    const std::lock_guard guard(device.handlers_lock);
    for (ib_event_handler* h = device.handlers; h != nullptr; h = h->next) handlers.push_back(h);
  }
  device::LiveObjects& live = device::LiveObjects::instance();
  for (ib_event_handler* handler : handlers) {
    if (!live.enter(handler)) continue;
    ib_event event = event_of(&device, type);
    event.element.port_num = 1;
    handler->handler(handler, &event);
    live.leave(handler);
  }
}

}  // namespace uroce::verbs

using namespace uroce::verbs;

void ib_register_event_handler(ib_event_handler* event_handler) {
  Device& device = of(event_handler->device);
  uroce::device::LiveObjects::instance().add(event_handler);
  const std::lock_guard guard(device.handlers_lock);
  event_handler->next = device.handlers;
  device.handlers = event_handler;
}

void ib_unregister_event_handler(ib_event_handler* event_handler) {
  Device& device = of(event_handler->device);
  {
    const std::lock_guard guard(device.handlers_lock);
    for (ib_event_handler** at = &device.handlers; *at != nullptr; at = &(*at)->next) {
      if (*at != event_handler) continue;
      *at = event_handler->next;
      break;
    }
  }
  uroce::device::LiveObjects::instance().remove(event_handler);
}
