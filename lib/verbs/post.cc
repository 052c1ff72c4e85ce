// SPDX-License-Identifier: BSD-3-Clause
// Posting, with the work requests of the native face.
#include "device/post.h"

#include "verbs/handles.h"
#include "verbs/operands.h"
#include "verbs/post_local.h"

namespace uroce::verbs {
namespace {

static_assert(IB_WR_RDMA_READ == static_cast<int>(transport::WrOpcode::kRdmaRead) &&
              IB_WR_REG_MR == static_cast<int>(transport::WrOpcode::kRegMr) &&
              IB_SEND_INLINE == int{transport::kSendInline});

// How device/post.h reads ib_send_wr.
struct Face {
  static constexpr uint64_t kOpcodes = ~uint64_t{0};

  static uint32_t immediate(const ib_send_wr& wr) { return wr.ex.imm_data; }
  static device::Datagram datagram(const ib_send_wr& wr) {
    const ib_ud_wr& ud = *ud_wr(&wr);
    return {ud.ah != nullptr ? of(ud.ah).object : nullptr, ud.remote_qpn, ud.remote_qkey};
  }
  static uint32_t shared_queue(const ib_send_wr& wr) { return xrc_wr(&wr)->remote_srqn; }
  static device::RemoteMemory memory(const ib_send_wr& wr) {
    return {rdma_wr(&wr)->remote_addr, rdma_wr(&wr)->rkey};
  }
  static device::AtomicOperands atomic(const ib_send_wr& wr) {
    const ib_atomic_wr& atomic = *atomic_wr(&wr);
    return {{atomic.remote_addr, atomic.rkey}, atomic.compare_add, atomic.swap};
  }
  static uint64_t atomic_length(uint64_t bytes) { return bytes; }  // no more than a word, either
  static int write_flush(const ib_send_wr& wr, uint64_t& length, transport::SendWqe& wqe) {
    return verbs::write_flush(*flush_wr(&wr), length, wqe);
  }
  static int write_local(const ib_send_wr& wr, transport::SendQueue& queue,
                         transport::SendWqe& wqe) {
    return write_local_operation(wr, queue, wqe);
  }
};

}  // namespace
}  // namespace uroce::verbs

using namespace uroce::verbs;

int ib_post_send(ib_qp* qp, const ib_send_wr* send_wr, const ib_send_wr** bad_send_wr) {
  return uroce::device::post_send<Face>(of(qp).handle, send_wr, bad_send_wr);
}

int ib_post_recv(ib_qp* qp, const ib_recv_wr* recv_wr, const ib_recv_wr** bad_recv_wr) {
  return uroce::device::post_recv(of(qp).handle, recv_wr, bad_recv_wr);
}

int ib_post_srq_recv(ib_srq* srq, const ib_recv_wr* recv_wr, const ib_recv_wr** bad_recv_wr) {
  return uroce::device::post_srq_recv(of(srq).handle, recv_wr, bad_recv_wr);
}
