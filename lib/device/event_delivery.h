// SPDX-License-Identifier: BSD-3-Clause
// Delivery of engines' events to a face's objects, and the end of an object that may be given some.
#ifndef UROCE_DEVICE_EVENT_DELIVERY_H
#define UROCE_DEVICE_EVENT_DELIVERY_H

#include "device/failure_log.h"
#include "device/live_objects.h"
#include "transport/event.h"

namespace uroce::device {

// Calls deliver(event) if the event's object is still alive, and keeps it alive meanwhile; logs a
// connection that gave up. Any thread, outside every loop turn, without a lock held.
template <typename Deliver>
void dispatch_to_live(const transport::Event& event, Deliver&& deliver) {
  if (event.type == transport::EventType::kGaveUp) {
    FailureLog::instance().write(event.gave_up);
    return;
  }
  LiveObjects& live = LiveObjects::instance();
  if (event.object == nullptr || !live.enter(event.object)) return;
  deliver(event);
  live.leave(event.object);
}

// `destroy` is the device's call, given what it is to do when nothing refuses any more (Quiesce):
// then nobody may be delivering to `object`, which is what events name. A destroy that is refused
// leaves the object where events find it, all the time. Returns what `destroy` returns; after 0 no
// event is delivered any more, and the object's memory goes to LiveObjects::rest().
template <typename Destroy>
int end_live(const void* object, Destroy&& destroy) {
  LiveObjects& live = LiveObjects::instance();
  bool quiet = false;
  const int error = destroy([&] {
    live.remove(object);
    quiet = true;
  });
  if (error != 0 && quiet) live.add(object);
  return error;
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_EVENT_DELIVERY_H
