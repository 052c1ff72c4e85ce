// SPDX-License-Identifier: BSD-3-Clause
// Address handles.
#include "ibverbs/object_making.h"
#include "ibverbs/paths.h"

using namespace uroce;
using namespace uroce::ibverbs;

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return make_in<Ah>(pd, [attr](device::Device& device, device::Pd& domain, Ah& ah) {
    return device.create_ah(domain, to_path(*attr), true, ah.object);
  });
}

int ibv_destroy_ah(ibv_ah* ah) {
  return end_in(of(ah), [ah](device::Device& device) { return device.destroy_ah(*of(ah).object); });
}
