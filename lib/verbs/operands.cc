// SPDX-License-Identifier: BSD-3-Clause
// The operands of a FLUSH.
#include "verbs/operands.h"

#include <cerrno>

#include "device/limits.h"
#include "wire/headers.h"

namespace uroce::verbs {

static_assert(IB_FLUSH_GLOBAL == int{wire::Feth::kGlobalVisibility} &&
              IB_FLUSH_PERSISTENT == int{wire::Feth::kPersistence} &&
              IB_FLUSH_RANGE == int{wire::Feth::kRange} &&
              IB_FLUSH_MR == int{wire::Feth::kWholeRegion});

int write_flush(const ib_flush_wr& wr, uint64_t& length, transport::SendWqe& wqe) {
  constexpr __u32 kTypes = IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT;
  if (length != 0 || wr.length > device::kMessageBytesMax) return -EINVAL;
  if (wr.type == 0 || (wr.type & ~kTypes) != 0 || wr.level > IB_FLUSH_MR) return -EINVAL;
  length = wr.length;
  wqe.remote_address = wr.remote_addr;
  wqe.rkey = wr.rkey;
  wqe.remote_qkey = wr.level << 4 | wr.type;
  return 0;
}

}  // namespace uroce::verbs
