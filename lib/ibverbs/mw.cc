// SPDX-License-Identifier: BSD-3-Clause
// Memory windows.
#include <cerrno>

#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return refuse<ibv_mw>(-EINVAL);
  const auto kind = type == IBV_MW_TYPE_1 ? memory::KeyKind::kWindow1 : memory::KeyKind::kWindow2;
  return make_in<Mw>(pd, [&](device::Device& device, device::Pd& domain, Mw& mw) {
    if (const int error = device.allocate_window(domain, kind, mw.object); error != 0) return error;
    mw.rkey = mw.object->key.value();
    mw.handle = mw.object->key.index();
    mw.type = type;
    return 0;
  });
}

int dealloc_mw(ibv_mw* mw) {
  return end_in(of(mw),
                [mw](device::Device& device) { return device.deallocate_window(*of(mw).object); });
}

}  // namespace uroce::ibverbs
