// SPDX-License-Identifier: BSD-3-Clause
// Memory regions of the native face.
#include <cerrno>
#include <new>

#include "verbs/handles.h"

using namespace uroce::verbs;

ib_mr* ib_reg_user_mr(ib_pd* pd, __u64 start, __u64 length, __u64 virt_addr, int mr_access_flags) {
  auto* mr = new (std::nothrow) Mr{};
  if (mr == nullptr) return error_pointer<ib_mr>(-ENOMEM);
  const int error = device_of(*pd).register_memory(*of(pd).object, start, length, virt_addr,
                                                   static_cast<__u32>(mr_access_flags), mr->object);
  if (error != 0) {
    delete mr;
    return error_pointer<ib_mr>(error);
  }
  constexpr int kRemote = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
                          IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT;
  mr->device = pd->device;
  mr->pd = pd;
  mr->lkey = mr->object->key.value();
  mr->rkey = (mr_access_flags & kRemote) != 0 ? mr->lkey : 0;
  mr->iova = virt_addr;
  mr->length = length;
  mr->type = IB_MR_TYPE_USER;
  of(pd->device).objects.keep(mr);
  return mr;
}

int ib_dereg_mr(ib_mr* mr) {
  const int error = device_of(*mr->pd).deregister_memory(*of(mr).object);
  if (error == 0) of(mr->device).objects.give_up(&of(mr));
  return error;
}
