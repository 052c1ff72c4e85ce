// SPDX-License-Identifier: BSD-3-Clause
// Posting, with the work requests of rdma-core.
#include "device/post.h"

#include <cerrno>

#include "ibverbs/data_path.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {
namespace {

using transport::WrOpcode;

// A positive errno; post() returns a negative one.
template <typename Wr, typename Post>
int post_with_engines(Wr* wr, Wr** bad_wr, Post&& post) {
  if (!has_lost_engines()) return positive(post());
  *bad_wr = wr;
  return EIO;
}

static_assert(IBV_WR_RDMA_READ == static_cast<int>(WrOpcode::kRdmaRead) &&
              IBV_WR_SEND_WITH_INV == static_cast<int>(WrOpcode::kSendWithInvalidate) &&
              IBV_WR_ATOMIC_WRITE == static_cast<int>(WrOpcode::kAtomicWrite) &&
              IBV_SEND_INLINE == int{transport::kSendInline});

// How device/post.h reads ibv_send_wr.
struct Face {
  // Not FLUSH and REG_MR, which rdma-core does not have.
  static constexpr uint64_t kOpcodes = device::kSendsOfConnections | device::kRdma |
                                       device::kFetches | device::bit(WrOpcode::kAtomicWrite) |
                                       device::bit(WrOpcode::kLocalInvalidate) |
                                       device::bit(WrOpcode::kBindMw);

  static uint32_t immediate(const ibv_send_wr& wr) { return wr.imm_data; }
  static device::Datagram datagram(const ibv_send_wr& wr) {
    const auto& ud = wr.wr.ud;
    return {ud.ah != nullptr ? of(ud.ah).object : nullptr, ud.remote_qpn, ud.remote_qkey};
  }
  static uint32_t shared_queue(const ibv_send_wr& wr) { return wr.qp_type.xrc.remote_srqn; }
  static device::RemoteMemory memory(const ibv_send_wr& wr) {
    return {wr.wr.rdma.remote_addr, wr.wr.rdma.rkey};
  }
  static device::AtomicOperands atomic(const ibv_send_wr& wr) {
    const auto& atomic = wr.wr.atomic;
    return {{atomic.remote_addr, atomic.rkey}, atomic.compare_add, atomic.swap};
  }
  static uint64_t atomic_length(uint64_t bytes) { return ibverbs::atomic_length(bytes); }
  static int write_flush(const ibv_send_wr&, uint64_t&, transport::SendWqe&) { return -EINVAL; }
  static int write_local(const ibv_send_wr& wr, transport::SendQueue& queue,
                         transport::SendWqe& wqe) {
    if (wr.opcode == IBV_WR_LOCAL_INV) {
      wqe.rkey = wr.invalidate_rkey;
      return 0;
    }
    const auto& bind = wr.bind_mw;
    if (bind.mw == nullptr) return -EINVAL;
    return device::write_bind(bind.bind_info, bind.mw->rkey, bind.rkey, queue, wqe);
  }
};

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return post_with_engines(wr, bad_wr,
                           [&] { return device::post_send<Face>(of(qp).handle, wr, bad_wr); });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_with_engines(wr, bad_wr,
                           [&] { return device::post_recv(of(qp).handle, wr, bad_wr); });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_with_engines(wr, bad_wr,
                           [&] { return device::post_srq_recv(of(srq).handle, wr, bad_wr); });
}

// A type 1 window, whose next key is this library's choice. The caller may read it at once; peers
// may use it when the request has completed.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* mw_bind) {
  ibv_send_wr wr{};
  wr.wr_id = mw_bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = mw_bind->send_flags;
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  wr.bind_mw.bind_info = mw_bind->bind_info;
  ibv_send_wr* bad = nullptr;
  const int error = post_send(qp, &wr, &bad);
  if (error == 0) mw->rkey = wr.bind_mw.rkey;
  return error;
}

}  // namespace uroce::ibverbs
