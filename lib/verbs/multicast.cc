// SPDX-License-Identifier: BSD-3-Clause
// Multicast attach and detach of the native face.
#include <cerrno>

#include "verbs/driver.h"
#include "verbs/handles.h"

using namespace uroce::verbs;

namespace {

// The table of functions has no place for sources: on a device with another one they are unknown.
bool is_native(const ib_qp& qp) { return qp.device->ops->attach_mcast == driver::attach_mcast; }

}  // namespace

int driver::attach_mcast(ib_qp* qp, ib_gid* gid, __u16 /*lid*/) {
  return device_of(*qp).attach_multicast(of(qp).handle, to_gid(*gid));
}

int driver::detach_mcast(ib_qp* qp, ib_gid* gid, __u16 /*lid*/) {
  return device_of(*qp).detach_multicast(of(qp).handle, to_gid(*gid));
}

int uroce_attach_mcast_source(ib_qp* qp, ib_gid* gid, const ib_gid* source) {
  if (!is_native(*qp)) return -EOPNOTSUPP;
  return device_of(*qp).attach_multicast_source(of(qp).handle, to_gid(*gid), to_gid(*source));
}

int uroce_detach_mcast_source(ib_qp* qp, ib_gid* gid, const ib_gid* source) {
  if (!is_native(*qp)) return -EOPNOTSUPP;
  return device_of(*qp).detach_multicast_source(of(qp).handle, to_gid(*gid), to_gid(*source));
}
