// SPDX-License-Identifier: BSD-3-Clause
// The address vector: where a packet goes, as a header template that is ready to be copied.
#ifndef UROCE_TRANSPORT_ADDRESS_VECTOR_H
#define UROCE_TRANSPORT_ADDRESS_VECTOR_H

#include <cstdint>
#include <type_traits>

#include "base/types.h"
#include "wire/emit.h"
#include "wire/frame.h"

namespace uroce::transport {

// Made by the device from rdma_ah_attr. On UD it travels by value inside the work request, so that
// an address handle may be changed or destroyed as soon as the post call has returned. The UDP
// source port in `headers` is set for the pair of QPNs when the vector meets its queue pair.
struct AddressVector {
  wire::HeaderTemplate headers;
  Gid sgid;
  Gid dgid;
  uint32_t flow_label = 0;     // of the AV; 0: the source port follows from the QPNs
  Route route = Route::kWire;  // a group's: kBoth, and the engine looks whether anybody is here
  bool multicast = false;
};
static_assert(std::is_trivially_copyable_v<AddressVector>);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_ADDRESS_VECTOR_H
