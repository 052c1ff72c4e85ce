// SPDX-License-Identifier: BSD-3-Clause
// The native face as the rooms above it see it: making an ib_device of a device, and delivering
// events to the application's handlers.
#ifndef UROCE_VERBS_FACE_H
#define UROCE_VERBS_FACE_H

#include <uroce/ib_verbs.h>

#include "device/device.h"
#include "transport/event.h"

namespace uroce::verbs {

// The handle that applications use, made once for a device, before device.start(). The device must
// outlive it. close_device() waits for event handlers under way and frees the handles of all
// objects that are left; the objects themselves go with the device. No call for them is under way
// then.
ib_device* open_device(device::Device& device);
void close_device(ib_device* ibdev);
// Tells clients (ib_client.h) of a device that has started; withdrawing tells them that it goes,
// and returns when nobody holds it any more. Every verb works meanwhile. close_device() withdraws
// what was not withdrawn.
void announce_device(ib_device* ibdev);
void withdraw_device(ib_device* ibdev);
device::Device& device_of(const ib_device* ibdev);

// Calls the handler that an engine's event is for, if it still has an object and a handler; logs a
// connection that gave up. For the
// owner of the loop to call with what Engine::poll_event gave: on the polling thread in inline
// mode, on the event thread in worker mode; without a lock held. Any number of threads may.
void dispatch_event(const transport::Event& event);

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_FACE_H
