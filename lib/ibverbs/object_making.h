// SPDX-License-Identifier: BSD-3-Clause
// Making and ending the objects of a device: the handle here, and what it stands for there.
#ifndef UROCE_IBVERBS_OBJECT_MAKING_H
#define UROCE_IBVERBS_OBJECT_MAKING_H

#include <memory>
#include <new>

#include "ibverbs/events.h"
#include "ibverbs/handles.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {

// The device behind a context: starts it if nobody has. 0 or a negative errno.
inline int reach_device(ibv_context* context, device::Device*& device) {
  return runtime().start(of(context).index, device);
}

// make(device, handle): 0 or a negative errno; a handle that it refuses is gone.
template <typename T, typename Make>
T* make_object(ibv_context* context, Make&& make) {
  device::Device* device = nullptr;
  if (const int error = reach_device(context, device); error != 0) return refuse<T>(error);
  std::unique_ptr<T> object(new (std::nothrow) T{});
  if (object == nullptr) return refuse<T>(-ENOMEM);
  if (const int error = make(*device, *object); error != 0) return refuse<T>(error);
  return object.release();
}

// end(device): 0 or a negative errno; a handle that it refuses stays. A positive errno.
template <typename T, typename End>
int end_object(ibv_context* context, T& object, End&& end) {
  device::Device* device = nullptr;
  if (const int error = reach_device(context, device); error != 0) return positive(error);
  const int error = end(*device);
  if (error == 0) delete &object;
  return positive(error);
}

// The same for what is in a protection domain and says so in `context` and `pd`.
template <typename T, typename Make>
T* make_in(ibv_pd* pd, Make&& make) {
  T* const made = make_object<T>(pd->context, [&](device::Device& device, T& object) {
    object.context = pd->context;
    object.pd = pd;
    return make(device, *of(pd).object, object);
  });
  if (made != nullptr) ++of(pd).uses;
  return made;
}
template <typename T, typename End>
int end_in(T& object, End&& end) {
  Pd& pd = of(object.pd);
  const int error = end_object(object.context, object, end);
  if (error == 0) --pd.uses;
  return error;
}

// Objects that events name. fill(handle): what events need, see begin_life(); make(device, handle):
// 0 or a negative errno.
template <typename T, typename Fill, typename Make>
T* make_live(ibv_context* context, Fill&& fill, Make&& make) {
  device::Device* device = nullptr;
  if (const int error = reach_device(context, device); error != 0) return refuse<T>(error);
  auto* const object = new (std::nothrow) T{};
  if (object == nullptr) return refuse<T>(-ENOMEM);
  fill(*object);
  begin_life(*object);
  if (const int error = make(*device, *object); error != 0) {
    end_life(*object);
    return refuse<T>(error);
  }
  ++of(context).objects;
  return object;
}
// end(device, quiesce): the device's call. A positive errno; 0: all events are acknowledged, and
// the object is gone.
template <typename T, typename End>
int end_live_object(ibv_context* context, T& object, End&& end) {
  device::Device* device = nullptr;
  if (const int error = reach_device(context, device); error != 0) return positive(error);
  const int error =
      end_life(object, [&](const device::Quiesce& quiesce) { return end(*device, quiesce); });
  if (error == 0) --of(context).objects;
  return positive(error);
}

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_OBJECT_MAKING_H
