// SPDX-License-Identifier: BSD-3-Clause
// Multicast attach and detach.
#include <cerrno>

#include "ibverbs/object_making.h"

namespace uroce::ibverbs {
namespace {

// IBA 11.3.1: a group, and an unreliable datagram queue pair.
int change(ibv_qp* qp, const ibv_gid* gid,
           int (device::Device::*verb)(device::QpHandle&, const Gid&)) {
  const Gid group = to_gid(*gid);
  if (qp->qp_type != IBV_QPT_UD || !group.is_multicast()) return EINVAL;
  device::Device* device = nullptr;
  if (const int error = reach_device(qp->context, device); error != 0) return positive(error);
  return positive((device->*verb)(of(qp).handle, group));
}

}  // namespace
}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t /*lid*/) {
  return change(qp, gid, &device::Device::attach_multicast);
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t /*lid*/) {
  return change(qp, gid, &device::Device::detach_multicast);
}
