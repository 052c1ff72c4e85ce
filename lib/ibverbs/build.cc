// SPDX-License-Identifier: BSD-3-Clause
// The ibv_wr_*() calls: work requests written piece by piece, straight into the ring.
//
// The send queue is locked from wr_start to wr_complete or wr_abort. A builder begins the next WQE,
// setters fill in the one begun last, and what can only be judged when all its pieces are there is
// judged before the next one begins. The first error is kept, and from then on nothing is written;
// wr_complete returns it and announces nothing. The engine looks at no WQE before the announcement.
#include <cerrno>
#include <cstring>

#include "device/post.h"
#include "ibverbs/data_path.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {
namespace {

using device::bit;
using transport::SendWqe;
using transport::WrOpcode;

// The first bits of send_ops_flags are numbered as the opcodes are.
constexpr uint64_t kSameNumbers = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                                  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                                  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
                                  IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;
static_assert(IBV_QP_EX_WITH_RDMA_READ == int{bit(WrOpcode::kRdmaRead)} &&
              IBV_QP_EX_WITH_SEND_WITH_INV == int{bit(WrOpcode::kSendWithInvalidate)});

uint64_t opcodes_from(uint64_t send_ops_flags) {
  const uint64_t word = (send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE) != 0 ? 1 : 0;
  return (send_ops_flags & kSameNumbers) | word << static_cast<unsigned>(WrOpcode::kAtomicWrite);
}

void fail(Qp& qp, int error) {
  if (qp.build_error == 0) qp.build_error = error;
}

// The WQE that setters mean; nullptr after an error, and when none has been begun, which is one.
SendWqe* current(Qp& qp) {
  if (qp.build_error == 0 && qp.build_tail == qp.build_first) fail(qp, EINVAL);
  return qp.build_error == 0 ? &qp.handle.queues->send.wqe(qp.build_tail - 1) : nullptr;
}

bool is_one_of(const SendWqe& wqe, uint64_t opcodes) { return (bit(wqe.opcode) & opcodes) != 0; }

// Judges the WQE that was begun last, now that it has all its pieces.
void judge(Qp& qp) {
  if (qp.build_tail == qp.build_first || qp.build_error != 0) return;
  const SendWqe& wqe = qp.handle.queues->send.wqe(qp.build_tail - 1);
  constexpr uint64_t kWords = device::kFetches | bit(WrOpcode::kAtomicWrite);
  if (is_one_of(wqe, kWords) && !device::is_word(wqe.remote_address, wqe.length)) fail(qp, EINVAL);
  if (qp.handle.queues->send.has_address_vectors && !device::fits_port(qp.handle, wqe.length)) {
    fail(qp, EINVAL);
  }
  if (qp.build_lacks_target) fail(qp, EINVAL);
}

// The next WQE, without data; nullptr after an error.
SendWqe* begin(ibv_qp_ex* raw, WrOpcode opcode) {
  Qp& qp = of(raw);
  judge(qp);
  if ((qp.build_opcodes & bit(opcode)) == 0) fail(qp, EINVAL);
  transport::SendQueue& queue = qp.handle.queues->send;
  if (qp.build_error == 0 && !device::has_room(queue, qp.build_tail)) fail(qp, ENOMEM);
  if (qp.build_error != 0) return nullptr;
  SendWqe& wqe = queue.wqe(qp.build_tail++);
  wqe.wr_id = raw->wr_id;
  wqe.immediate_be = 0;
  wqe.length = 0;
  wqe.opcode = opcode;
  wqe.flags = static_cast<uint8_t>(raw->wr_flags & transport::kSendFlags &
                                   ~unsigned{transport::kSendInline});
  wqe.sge_count = 0;
  qp.build_lacks_target =
      queue.has_address_vectors ||
      (qp.handle.type == transport::QpType::kXrcIni && !is_local_operation(opcode));
  return &wqe;
}

void begin_with_memory(ibv_qp_ex* qp, WrOpcode opcode, uint32_t rkey, uint64_t remote_addr,
                       __be32 imm_data = 0) {
  SendWqe* const wqe = begin(qp, opcode);
  if (wqe == nullptr) return;
  device::write_memory({remote_addr, rkey}, *wqe);
  wqe->immediate_be = imm_data;
}

void begin_send(ibv_qp_ex* qp, WrOpcode opcode, uint32_t immediate) {
  if (SendWqe* const wqe = begin(qp, opcode); wqe != nullptr) wqe->immediate_be = immediate;
}

void begin_atomic(ibv_qp_ex* qp, WrOpcode opcode, const device::RemoteMemory& word,
                  uint64_t compare_add, uint64_t swap) {
  SendWqe* const wqe = begin(qp, opcode);
  if (wqe == nullptr) return;
  device::write_memory(word, *wqe);
  wqe->compare_add = compare_add;
  wqe->swap = swap;
}

void wr_rdma_write(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote_addr) {
  begin_with_memory(qp, WrOpcode::kRdmaWrite, rkey, remote_addr);
}
void wr_rdma_write_imm(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data) {
  begin_with_memory(qp, WrOpcode::kRdmaWriteWithImm, rkey, remote_addr, imm_data);
}
void wr_rdma_read(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote_addr) {
  begin_with_memory(qp, WrOpcode::kRdmaRead, rkey, remote_addr);
}
void wr_send(ibv_qp_ex* qp) { begin_send(qp, WrOpcode::kSend, 0); }
void wr_send_imm(ibv_qp_ex* qp, __be32 imm_data) {
  begin_send(qp, WrOpcode::kSendWithImm, imm_data);
}
void wr_send_inv(ibv_qp_ex* qp, uint32_t invalidate_rkey) {
  begin_send(qp, WrOpcode::kSendWithInvalidate, invalidate_rkey);
}
void wr_atomic_cmp_swp(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare,
                       uint64_t swap) {
  begin_atomic(qp, WrOpcode::kAtomicCmpSwap, {remote_addr, rkey}, compare, swap);
}
void wr_atomic_fetch_add(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote_addr, uint64_t add) {
  begin_atomic(qp, WrOpcode::kAtomicFetchAdd, {remote_addr, rkey}, add, 0);
}

void wr_local_inv(ibv_qp_ex* qp, uint32_t invalidate_rkey) {
  if (SendWqe* const wqe = begin(qp, WrOpcode::kLocalInvalidate); wqe != nullptr) {
    wqe->rkey = invalidate_rkey;
  }
}

void wr_bind_mw(ibv_qp_ex* qp, ibv_mw* mw, uint32_t rkey, const ibv_mw_bind_info* bind_info) {
  SendWqe* const wqe = begin(qp, WrOpcode::kBindMw);
  if (wqe == nullptr) return;
  const int error =
      device::write_bind(*bind_info, mw->rkey, rkey, of(qp).handle.queues->send, *wqe);
  if (error != 0) fail(of(qp), positive(error));
}

void wr_set_ud_addr(ibv_qp_ex* raw, ibv_ah* ah, uint32_t remote_qpn, uint32_t remote_qkey) {
  Qp& qp = of(raw);
  SendWqe* const wqe = current(qp);
  if (wqe == nullptr) return;
  const device::Ah* const object = ah != nullptr ? of(ah).object : nullptr;
  if (!qp.handle.queues->send.has_address_vectors ||
      device::write_datagram(qp.handle, {object, remote_qpn, remote_qkey}, *wqe) != 0) {
    return fail(qp, EINVAL);
  }
  qp.build_lacks_target = false;
}

void wr_set_xrc_srqn(ibv_qp_ex* raw, uint32_t remote_srqn) {
  Qp& qp = of(raw);
  SendWqe* const wqe = current(qp);
  if (wqe == nullptr) return;
  if (qp.handle.type != transport::QpType::kXrcIni) return fail(qp, EINVAL);
  wqe->remote_qpn = remote_srqn & Qpn::kMask;
  qp.build_lacks_target = false;
}

void set_list(Qp& qp, size_t count, const ibv_sge* list) {
  SendWqe* const wqe = current(qp);
  if (wqe == nullptr) return;
  if (count > qp.handle.capabilities.send_sge_max || is_one_of(*wqe, device::kLocal)) {
    return fail(qp, EINVAL);
  }
  uint64_t length = device::total_length(list, count);
  if (length > device::kMessageBytesMax) return fail(qp, EINVAL);
  if (is_one_of(*wqe, device::kFetches)) length = atomic_length(length);
  wqe->length = static_cast<uint32_t>(length);
  wqe->sge_count = static_cast<uint8_t>(count);
  wqe->flags &= static_cast<uint8_t>(~transport::kSendInline);
  device::copy_list(qp.handle.queues->send.payload_area(*wqe), list, count);
}

void wr_set_sge(ibv_qp_ex* qp, uint32_t lkey, uint64_t addr, uint32_t length) {
  const ibv_sge sge{.addr = addr, .length = length, .lkey = lkey};
  set_list(of(qp), 1, &sge);
}
void wr_set_sge_list(ibv_qp_ex* qp, size_t num_sge, const ibv_sge* sg_list) {
  set_list(of(qp), num_sge, sg_list);
}

// `bytes_max`: room for them.
void set_inline(Qp& qp, size_t count, const ibv_data_buf* buffers, uint64_t bytes_max) {
  SendWqe* const wqe = current(qp);
  if (wqe == nullptr) return;
  uint64_t length = 0;
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].length > bytes_max - length) return fail(qp, EINVAL);
    length += buffers[i].length;
  }
  if (!is_one_of(*wqe, device::kInlineOpcodes)) return fail(qp, EINVAL);
  uint8_t* area = qp.handle.queues->send.payload_area(*wqe);
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].length == 0) continue;
    std::memcpy(area, buffers[i].addr, buffers[i].length);
    area += buffers[i].length;
  }
  wqe->length = static_cast<uint32_t>(length);
  wqe->sge_count = 0;
  wqe->flags |= transport::kSendInline;
}

void wr_set_inline_data(ibv_qp_ex* qp, void* addr, size_t length) {
  const ibv_data_buf buffer{.addr = addr, .length = length};
  set_inline(of(qp), 1, &buffer, of(qp).handle.capabilities.inline_bytes_max);
}
void wr_set_inline_data_list(ibv_qp_ex* qp, size_t num_buf, const ibv_data_buf* buf_list) {
  set_inline(of(qp), num_buf, buf_list, of(qp).handle.capabilities.inline_bytes_max);
}

// Its word is part of the request, whatever inline data was agreed on: a slot of a connection has
// room for the operands of local operations, which are more.
void wr_atomic_write(ibv_qp_ex* qp, uint32_t rkey, uint64_t remote_addr, const void* atomic_wr) {
  constexpr size_t kWordBytes = 8;
  static_assert(kWordBytes <= sizeof(transport::LocalOperation));
  begin_with_memory(qp, WrOpcode::kAtomicWrite, rkey, remote_addr);
  const ibv_data_buf word{.addr = const_cast<void*>(atomic_wr), .length = kWordBytes};
  set_inline(of(qp), 1, &word, kWordBytes);
}

void wr_start(ibv_qp_ex* raw) {
  Qp& qp = of(raw);
  if (has_lost_engines()) {
    qp.build_first = qp.build_tail = 0;
    qp.build_error = EIO;
    return;
  }
  if (!qp.handle.exclusive) qp.handle.send_lock.lock();
  qp.build_first = qp.build_tail = qp.handle.queues->send.producer.load(std::memory_order_relaxed);
  qp.build_error = device::state_of(qp.handle) < transport::QpState::kRts ? EINVAL : 0;
}

void wr_abort(ibv_qp_ex* raw) {
  Qp& qp = of(raw);
  if (!qp.handle.exclusive) qp.handle.send_lock.unlock();
}

int wr_complete(ibv_qp_ex* raw) {
  Qp& qp = of(raw);
  judge(qp);
  const int error = qp.build_error;
  if (error == 0) device::announce_sends(qp.handle, qp.build_first, qp.build_tail);
  wr_abort(raw);
  return error;
}

}  // namespace

bool can_build(transport::QpType type, uint64_t send_ops_flags) {
  constexpr uint64_t kKnown = kSameNumbers | IBV_QP_EX_WITH_ATOMIC_WRITE;
  return (send_ops_flags & ~kKnown) == 0 &&
         (opcodes_from(send_ops_flags) & ~device::opcodes_of(type)) == 0;
}

void install_builders(Qp& qp, uint64_t send_ops_flags) {
  qp.builds = true;
  qp.build_opcodes = opcodes_from(send_ops_flags) & device::opcodes_of(qp.handle.type);
  qp.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
  qp.wr_atomic_fetch_add = wr_atomic_fetch_add;
  qp.wr_bind_mw = wr_bind_mw;
  qp.wr_local_inv = wr_local_inv;
  qp.wr_rdma_read = wr_rdma_read;
  qp.wr_rdma_write = wr_rdma_write;
  qp.wr_rdma_write_imm = wr_rdma_write_imm;
  qp.wr_send = wr_send;
  qp.wr_send_imm = wr_send_imm;
  qp.wr_send_inv = wr_send_inv;
  qp.wr_set_ud_addr = wr_set_ud_addr;
  qp.wr_set_xrc_srqn = wr_set_xrc_srqn;
  qp.wr_set_inline_data = wr_set_inline_data;
  qp.wr_set_inline_data_list = wr_set_inline_data_list;
  qp.wr_set_sge = wr_set_sge;
  qp.wr_set_sge_list = wr_set_sge_list;
  qp.wr_start = wr_start;
  qp.wr_complete = wr_complete;
  qp.wr_abort = wr_abort;
  qp.wr_atomic_write = wr_atomic_write;
}

}  // namespace uroce::ibverbs
