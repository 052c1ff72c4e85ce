// SPDX-License-Identifier: BSD-3-Clause
// Memory windows of the native face.
#include <cerrno>
#include <new>

#include "verbs/handles.h"

using namespace uroce;
using namespace uroce::verbs;

ib_mw* ib_alloc_mw(ib_pd* pd, ib_mw_type type) {
  if (type != IB_MW_TYPE_1 && type != IB_MW_TYPE_2) return error_pointer<ib_mw>(-EINVAL);
  auto* mw = new (std::nothrow) Mw{};
  if (mw == nullptr) return error_pointer<ib_mw>(-ENOMEM);
  const auto kind = type == IB_MW_TYPE_1 ? memory::KeyKind::kWindow1 : memory::KeyKind::kWindow2;
  if (const int error = device_of(*pd).allocate_window(*of(pd).object, kind, mw->object);
      error != 0) {
    delete mw;
    return error_pointer<ib_mw>(error);
  }
  mw->device = pd->device;
  mw->pd = pd;
  mw->rkey = mw->object->key.value();
  mw->type = type;
  of(pd->device).objects.keep(mw);
  return mw;
}

int ib_dealloc_mw(ib_mw* mw) {
  const int error = device_of(*mw->pd).deallocate_window(*of(mw).object);
  if (error == 0) of(mw->device).objects.give_up(&of(mw));
  return error;
}
