// SPDX-License-Identifier: BSD-3-Clause
// The end of an object that has handlers and that the device may refuse to end.
#ifndef UROCE_VERBS_OBJECT_END_H
#define UROCE_VERBS_OBJECT_END_H

#include "device/event_delivery.h"
#include "verbs/handles.h"

namespace uroce::verbs {

// As device::end_live(); the handle's memory goes with it.
template <typename Object, typename User, typename Destroy>
int end_object(Object& object, User* user, Destroy&& destroy) {
  const int error = device::end_live(user, destroy);
  if (error != 0) return error;
  device::LiveObjects::instance().rest(of(user->device).objects.give_up(&object));
  return 0;
}

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_OBJECT_END_H
