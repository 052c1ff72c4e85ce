// SPDX-License-Identifier: BSD-3-Clause
// The operands of send work requests that are neither SEND nor plain RDMA.
#include "verbs/operands.h"

#include <cerrno>

#include "device/limits.h"
#include "wire/headers.h"

namespace uroce::verbs {
namespace {

using transport::SendWqe;
using wire::Feth;

static_assert(IB_FLUSH_GLOBAL == int{Feth::kGlobalVisibility} &&
              IB_FLUSH_PERSISTENT == int{Feth::kPersistence} &&
              IB_FLUSH_RANGE == int{Feth::kRange} && IB_FLUSH_MR == int{Feth::kWholeRegion});

constexpr uint64_t kWordBytes = 8;

bool is_word(uint64_t address, uint64_t length) {
  return length == kWordBytes && address % kWordBytes == 0;
}

int write_atomic(const ib_atomic_wr& wr, uint64_t length, SendWqe& wqe) {
  if (!is_word(wr.remote_addr, length)) return -EINVAL;
  wqe.remote_address = wr.remote_addr;
  wqe.rkey = wr.rkey;
  wqe.compare_add = wr.compare_add;
  wqe.swap = wr.swap;
  return 0;
}

int write_atomic_write(const ib_rdma_wr& wr, uint64_t length, SendWqe& wqe) {
  if (!is_word(wr.remote_addr, length)) return -EINVAL;
  wqe.remote_address = wr.remote_addr;
  wqe.rkey = wr.rkey;
  return 0;
}

int write_flush(const ib_flush_wr& wr, uint64_t& length, SendWqe& wqe) {
  constexpr __u32 kTypes = IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT;
  if (length != 0 || wr.length > device::kMessageBytesMax) return -EINVAL;
  if (wr.type == 0 || (wr.type & ~kTypes) != 0 || wr.level > IB_FLUSH_MR) return -EINVAL;
  length = wr.length;
  wqe.remote_address = wr.remote_addr;
  wqe.rkey = wr.rkey;
  wqe.remote_qkey = wr.level << 4 | wr.type;
  return 0;
}

}  // namespace

int write_operands(const ib_send_wr& wr, uint64_t& length, SendWqe& wqe) {
  switch (wr.opcode) {
    case IB_WR_ATOMIC_CMP_AND_SWP:
    case IB_WR_ATOMIC_FETCH_AND_ADD:
      return write_atomic(*atomic_wr(&wr), length, wqe);
    case IB_WR_ATOMIC_WRITE:
      return write_atomic_write(*rdma_wr(&wr), length, wqe);
    case IB_WR_FLUSH:
      return write_flush(*flush_wr(&wr), length, wqe);
    default:
      return -EINVAL;
  }
}

}  // namespace uroce::verbs
