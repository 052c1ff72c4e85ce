// SPDX-License-Identifier: BSD-3-Clause
// Multicast attach and detach of the native face.
#include "verbs/driver.h"
#include "verbs/handles.h"

using namespace uroce::verbs;

int driver::attach_mcast(ib_qp* qp, ib_gid* gid, __u16 /*lid*/) {
  return device_of(*qp).attach_multicast(of(qp).handle, to_gid(*gid));
}

int driver::detach_mcast(ib_qp* qp, ib_gid* gid, __u16 /*lid*/) {
  return device_of(*qp).detach_multicast(of(qp).handle, to_gid(*gid));
}

int uroce_attach_mcast_source(ib_qp* qp, ib_gid* gid, const ib_gid* source) {
  return device_of(*qp).attach_multicast_source(of(qp).handle, to_gid(*gid), to_gid(*source));
}

int uroce_detach_mcast_source(ib_qp* qp, ib_gid* gid, const ib_gid* source) {
  return device_of(*qp).detach_multicast_source(of(qp).handle, to_gid(*gid), to_gid(*source));
}
