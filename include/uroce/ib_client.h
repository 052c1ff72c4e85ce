// SPDX-License-Identifier: BSD-3-Clause
// Parts of a program that want to know of devices: told when one comes and goes, with a word of
// their own for each, and references that keep it.
#ifndef UROCE_IB_CLIENT_H
#define UROCE_IB_CLIENT_H

#include <uroce/ib_device.h>

#ifdef __cplusplus
extern "C" {
#endif

// The memory is the application's and stays until ib_unregister_client() has returned.
struct ib_client {
  const char* name;
  // A device is there, and every verb may be called. Not 0: the client does not want it, and is not
  // told when it goes. NULL: wants all.
  int (*add)(struct ib_device* device);
  // The device, or the client, goes: what the client made of it is to be destroyed. client_data:
  // what ib_set_client_data() stored. May be NULL.
  void (*remove)(struct ib_device* device, void* client_data);
};

// Calls client->add for every device that is there, and later for each that comes; uroce_stop()
// calls `remove`. Both run on the thread of the call that caused them and must not register or
// unregister clients. -EALREADY: it is registered.
int ib_register_client(struct ib_client* client);
// Calls client->remove for every device that it has.
void ib_unregister_client(struct ib_client* client);

// What a client wants to find again at a device, from within `add` until `remove` has returned.
// NULL: nothing was stored. Any thread.
void ib_set_client_data(struct ib_device* device, struct ib_client* client, void* data);
void* ib_get_client_data(struct ib_device* device, struct ib_client* client);

// Holds a device: uroce_stop() waits until each reference has been put back. False: the device is
// not there yet, or is going. Any thread. Where one thread does everything, it puts back what it
// has taken before it stops.
bool ib_device_try_get(struct ib_device* dev);
void ib_device_put(struct ib_device* dev);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_CLIENT_H
