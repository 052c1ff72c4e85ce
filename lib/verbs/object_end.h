// SPDX-License-Identifier: BSD-3-Clause
// The end of an object that has handlers and that the device may refuse to end.
#ifndef UROCE_VERBS_OBJECT_END_H
#define UROCE_VERBS_OBJECT_END_H

#include "verbs/handles.h"
#include "verbs/live_objects.h"

namespace uroce::verbs {

// `destroy` is the device's call, with what it is to do when nothing refuses any more: then no
// handler may be inside, and only then the memory goes. A destroy that is refused leaves the object
// where events find it, all the time.
template <typename Object, typename User, typename Destroy>
int end_object(Object& object, User* user, Destroy&& destroy) {
  LiveObjects& live = LiveObjects::instance();
  bool quiet = false;
  const int error = destroy([&] {
    live.remove(user);
    quiet = true;
  });
  if (error != 0) {
    if (quiet) live.add(user);
    return error;
  }
  live.rest(of(user->device).objects.give_up(&object));
  return 0;
}

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_OBJECT_END_H
