// SPDX-License-Identifier: BSD-3-Clause
// What a context asks of the face that its devices are for: the native one, or the drop-in.
#ifndef UROCE_START_FACE_H
#define UROCE_START_FACE_H

#include "device/device.h"
#include "transport/event.h"

namespace uroce::start {

// Outlives the context. All calls but dispatch(): one thread at a time.
class Face {
 public:
  virtual ~Face() = default;

  // The face's handle of a device, made before the device starts; nullptr where it needs none. The
  // device outlives it.
  virtual void* open(device::Device& device) = 0;
  // Every device has started. Each is announced, and withdrawn before engines stop: then it returns
  // when nobody holds the device any more.
  virtual void announce(void* handle) = 0;
  virtual void withdraw(void* handle) = 0;
  // Nobody calls anything of the device any more. A device that was not withdrawn is, by this.
  virtual void close(void* handle) = 0;

  // An event of an engine, for the application's handlers: any number of threads at a time, with
  // no engine in hand.
  virtual void dispatch(const transport::Event& event) = 0;
};

}  // namespace uroce::start

#endif  // UROCE_START_FACE_H
