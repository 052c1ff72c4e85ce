// SPDX-License-Identifier: BSD-3-Clause
// Posting of requests that send nothing. Only what the engine could not judge is judged here: the
// structures that are gone by then, and the rights.
#include "verbs/post_local.h"

#include <cerrno>

#include "device/memory_access.h"
#include "device/post.h"

namespace uroce::verbs {
namespace {

int write_registration(const ib_reg_wr& wr, transport::SendQueue& queue, transport::SendWqe& wqe) {
  if (wr.mr == nullptr) return -EINVAL;
  const Mr& mr = of(wr.mr);
  if (mr.pieces_max == 0 || mr.mapped == nullptr) return -EINVAL;
  const auto access = static_cast<__u32>(wr.access);
  if (device::check_access(access) != 0) return -EINVAL;
  if ((access & memory::kLocalWrite) != 0 && !mr.writable) return -EFAULT;
  wqe.rkey = mr.object->key.value();
  queue.local_operation(wqe) = {.address = (access & memory::kZeroBased) != 0 ? 0 : mr.iova,
                                .length = mr.length,
                                .base = mr.mapped,
                                .new_key = wr.key,
                                .region = 0,
                                .access = device::rights_of(access)};
  return 0;
}

int write_bind(const ib_bind_mw_wr& wr, transport::SendQueue& queue, transport::SendWqe& wqe) {
  if (wr.mw == nullptr) return -EINVAL;
  if (const int error = device::write_bind(wr.bind_info, wr.mw->rkey, wr.rkey, queue, wqe);
      error != 0) {
    return error;
  }
  wr.mw->rkey = wr.rkey;
  return 0;
}

}  // namespace

int write_local_operation(const ib_send_wr& wr, transport::SendQueue& queue,
                          transport::SendWqe& wqe) {
  switch (wr.opcode) {
    case IB_WR_LOCAL_INV:
      wqe.rkey = wr.ex.invalidate_rkey;
      return 0;
    case IB_WR_REG_MR:
      return write_registration(*reg_wr(&wr), queue, wqe);
    default:
      return write_bind(*bind_mw_wr(&wr), queue, wqe);
  }
}

}  // namespace uroce::verbs
