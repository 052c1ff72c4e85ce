// SPDX-License-Identifier: BSD-3-Clause
// Posting: work requests are checked, turned into WQEs in the ring, and announced by one doorbell.
//
// Nothing is visible to the engine before the one release store of the producer index behind the
// whole list, so a request that is refused half-way has left nothing but bytes in a free slot.
#include <cerrno>
#include <cstring>

#include "device/flow_label.h"
#include "device/path.h"
#include "transport/work_queue.h"
#include "verbs/handles.h"
#include "verbs/operands.h"
#include "verbs/post_local.h"

namespace uroce::verbs {
namespace {

using device::QpHandle;
using transport::QpState;
using transport::QpType;
using transport::SendQueue;
using transport::SendWqe;
using transport::WorkQueue;

static_assert(sizeof(ib_sge) == sizeof(memory::Sge) &&
              offsetof(ib_sge, lkey) == offsetof(memory::Sge, lkey));
static_assert(IB_WR_RDMA_READ == static_cast<int>(transport::WrOpcode::kRdmaRead) &&
              IB_SEND_INLINE == int{transport::kSendInline});

constexpr uint64_t bit(ib_wr_opcode opcode) { return uint64_t{1} << static_cast<unsigned>(opcode); }
constexpr uint64_t kSends = bit(IB_WR_SEND) | bit(IB_WR_SEND_WITH_IMM);
constexpr uint64_t kWrites = bit(IB_WR_RDMA_WRITE) | bit(IB_WR_RDMA_WRITE_WITH_IMM);
constexpr uint64_t kWords =
    bit(IB_WR_ATOMIC_CMP_AND_SWP) | bit(IB_WR_ATOMIC_FETCH_AND_ADD) | bit(IB_WR_ATOMIC_WRITE);
constexpr uint64_t kLocal = bit(IB_WR_LOCAL_INV) | bit(IB_WR_REG_MR) | bit(IB_WR_BIND_MW);

// Which opcodes a type of queue pair has, and which of them can carry inline data (IBA 11.4.1.1).
constexpr uint64_t opcodes_of(QpType type) {
  switch (type) {
    case QpType::kRc:
    case QpType::kXrcIni:
      return kSends | kWrites | kWords | kLocal | bit(IB_WR_RDMA_READ) | bit(IB_WR_FLUSH) |
             bit(IB_WR_SEND_WITH_INV);
    case QpType::kUc:
      return kSends | kWrites | bit(IB_WR_BIND_MW);
    case QpType::kXrcTgt:
      return 0;  // it only answers
    default:
      return kSends;
  }
}
constexpr uint64_t kInlineOpcodes =
    kSends | kWrites | bit(IB_WR_ATOMIC_WRITE) | bit(IB_WR_SEND_WITH_INV);

bool has_room(WorkQueue& queue, uint32_t tail) {
  if (tail - queue.cached_consumer < queue.depth) return true;
  queue.cached_consumer = queue.consumer.load(std::memory_order_acquire);
  return tail - queue.cached_consumer < queue.depth;
}

// In 64 bits: 32 lengths of 32 bits cannot overflow it.
uint64_t total_length(const ib_sge* list, int count) {
  if (count == 1) return list[0].length;  // nearly always
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += list[i].length;
  return total;
}

// Whether the request is one that this queue pair can take. 0 or -EINVAL.
int check_send(const QpHandle& handle, const ib_send_wr& wr, uint64_t length) {
  const auto opcode = static_cast<unsigned>(wr.opcode);
  if (opcode > 63 || (opcodes_of(handle.type) >> opcode & 1) == 0) return -EINVAL;
  if (length > device::kMessageBytesMax) return -EINVAL;
  if ((wr.send_flags & IB_SEND_INLINE) != 0) {
    if ((kInlineOpcodes >> opcode & 1) == 0) return -EINVAL;
    if (length > handle.capabilities.inline_bytes_max) return -EINVAL;
  }
  return 0;
}

// A list of one, which nearly all are, goes by itself: a call would cost more than the copy.
void copy_list(void* to, const ib_sge* from, int count) {
  if (count == 1) {
    std::memcpy(to, from, sizeof(ib_sge));
  } else {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(ib_sge));
  }
}

// The UD part of a WQE: the address by value, so that the handle may go at once.
int write_datagram(const QpHandle& handle, const ib_ud_wr& wr, uint64_t length, SendWqe& wqe) {
  if (length > handle.port_mtu_bytes->load(std::memory_order_relaxed)) return -EINVAL;
  if (wr.ah == nullptr || of(wr.ah->pd).object != handle.pd) return -EINVAL;
  transport::AddressVector& vector = SendQueue::address_vector(wqe);
  const device::AddressCell& cell = of(wr.ah).object->vector;
  if (handle.exclusive) {
    cell.load_exclusive(vector);
  } else {
    cell.load(vector);
  }
  wqe.remote_qpn = vector.multicast ? kMulticastQpn.value() : wr.remote_qpn & Qpn::kMask;
  wqe.remote_qkey = wr.remote_qkey;
  device::set_source_port(vector, handle.qpn.value(), wqe.remote_qpn);
  return 0;
}

void write_payload(const ib_send_wr& wr, uint8_t* area) {
  if ((wr.send_flags & IB_SEND_INLINE) == 0) {
    return copy_list(area, wr.sg_list, wr.num_sge);
  }
  for (int i = 0; i < wr.num_sge; ++i) {
    const ib_sge& sge = wr.sg_list[i];
    if (sge.length == 0) continue;
    std::memcpy(area, reinterpret_cast<const void*>(sge.addr), sge.length);
    area += sge.length;
  }
}

int write_send(QpHandle& handle, const ib_send_wr& wr, uint32_t index) {
  SendQueue& queue = handle.queues->send;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > handle.capabilities.send_sge_max) {
    return -EINVAL;
  }
  uint64_t length = total_length(wr.sg_list, wr.num_sge);
  if (const int error = check_send(handle, wr, length); error != 0) return error;
  if (!has_room(queue, index)) return -ENOMEM;

  SendWqe& wqe = queue.wqe(index);
  if (queue.has_address_vectors) {
    const int error = write_datagram(handle, *ud_wr(&wr), length, wqe);
    if (error != 0) return error;
  } else if ((bit(wr.opcode) & (kWrites | bit(IB_WR_RDMA_READ))) != 0) {
    wqe.remote_address = rdma_wr(&wr)->remote_addr;
    wqe.rkey = rdma_wr(&wr)->rkey;
  } else if ((bit(wr.opcode) & kLocal) != 0) {
    if (const int error = write_local_operation(wr, queue, wqe); error != 0) return error;
  } else if ((bit(wr.opcode) & (kSends | bit(IB_WR_SEND_WITH_INV))) == 0) {
    if (const int error = write_operands(wr, length, wqe); error != 0) return error;
  }
  const auto opcode = static_cast<transport::WrOpcode>(wr.opcode);
  if (handle.type == QpType::kXrcIni && !is_local_operation(opcode)) {
    wqe.remote_qpn = xrc_wr(&wr)->remote_srqn & Qpn::kMask;
  }
  wqe.wr_id = wr.wr_id;
  wqe.immediate_be = wr.ex.imm_data;
  wqe.length = static_cast<uint32_t>(length);
  wqe.opcode = opcode;
  wqe.flags = static_cast<uint8_t>(
      wr.send_flags & (IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE));
  wqe.sge_count = static_cast<uint8_t>(wr.num_sge);
  if (wr.num_sge > 0) write_payload(wr, queue.payload_area(wqe));
  return 0;
}

// `full`: asked when everything else is in order.
template <typename Full>
int write_recv(transport::ReceiveQueue& queue, uint32_t sge_max, const ib_recv_wr& wr,
               uint32_t index, Full&& full) {
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > sge_max) return -EINVAL;
  const uint64_t length = total_length(wr.sg_list, wr.num_sge);
  if (length > device::kMessageBytesMax) return -EINVAL;
  if (full(index)) return -ENOMEM;
  transport::RecvWqe& wqe = queue.wqe(index);
  wqe.wr_id = wr.wr_id;
  wqe.length = static_cast<uint32_t>(length);
  wqe.sge_count = static_cast<uint32_t>(wr.num_sge);
  if (wr.num_sge > 0) copy_list(wqe.sge_array(), wr.sg_list, wr.num_sge);
  return 0;
}

QpState state_of(const QpHandle& handle) {
  return handle.queues->state_word.load(std::memory_order_acquire);
}

}  // namespace
}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

int ib_post_send(ib_qp* qp, const ib_send_wr* send_wr, const ib_send_wr** bad_send_wr) {
  QpHandle& handle = of(qp).handle;
  const uroce::device::SpinGuard guard(handle.send_lock, handle.exclusive);
  WorkQueue& queue = handle.queues->send;
  const uint32_t first = queue.producer.load(std::memory_order_relaxed);
  uint32_t tail = first;
  int error = 0;
  if (send_wr != nullptr && state_of(handle) < QpState::kRts) error = -EINVAL;
  while (error == 0 && send_wr != nullptr) {
    error = write_send(handle, *send_wr, tail);
    if (error != 0) break;
    ++tail;
    send_wr = send_wr->next;
  }
  if (tail != first) {
    queue.producer.store(tail, std::memory_order_release);
    handle.doorbells->ring(handle.slot);
  }
  if (error != 0 && bad_send_wr != nullptr) *bad_send_wr = send_wr;
  return error;
}

int ib_post_recv(ib_qp* qp, const ib_recv_wr* recv_wr, const ib_recv_wr** bad_recv_wr) {
  QpHandle& handle = of(qp).handle;
  const uroce::device::SpinGuard guard(handle.recv_lock, handle.exclusive);
  transport::ReceiveQueue& queue = handle.queues->recv;
  const uint32_t first = queue.producer.load(std::memory_order_relaxed);
  uint32_t tail = first;
  int error = 0;
  if (recv_wr != nullptr && (state_of(handle) == QpState::kReset || handle.shares_receives)) {
    error = -EINVAL;
  }
  const auto full = [&queue](uint32_t index) { return !has_room(queue, index); };
  while (error == 0 && recv_wr != nullptr) {
    error = write_recv(queue, handle.capabilities.recv_sge_max, *recv_wr, tail, full);
    if (error != 0) break;
    ++tail;
    recv_wr = recv_wr->next;
  }
  if (tail != first) {
    queue.producer.store(tail, std::memory_order_release);
    // A receive is looked for when a packet needs it; only a queue pair in ERR, which has to flush
    // it, must be told. The fence: either we see ERR here, or the engine saw the request there.
    if (!handle.exclusive) std::atomic_thread_fence(std::memory_order_seq_cst);
    if (state_of(handle) == QpState::kErr) handle.doorbells->ring(handle.slot);
  }
  if (error != 0 && bad_recv_wr != nullptr) *bad_recv_wr = recv_wr;
  return error;
}

// The engine looks for a request when a packet needs one: nothing to ring.
int ib_post_srq_recv(ib_srq* srq, const ib_recv_wr* recv_wr, const ib_recv_wr** bad_recv_wr) {
  uroce::device::SrqHandle& handle = of(srq).handle;
  const uroce::device::SpinGuard guard(handle.post_lock, handle.exclusive);
  transport::SrqPoster& poster = handle.poster;
  transport::ReceiveQueue& queue = poster.posting->queue;
  const auto full = [&poster](uint32_t index) { return poster.full_at(index); };
  const uint32_t first = queue.producer.load(std::memory_order_relaxed);
  uint32_t tail = first;
  int error = 0;
  while (recv_wr != nullptr) {
    error = write_recv(queue, handle.sge_max, *recv_wr, tail, full);
    if (error != 0) break;
    ++tail;
    recv_wr = recv_wr->next;
  }
  if (tail != first) queue.producer.store(tail, std::memory_order_release);
  if (error != 0 && bad_recv_wr != nullptr) *bad_recv_wr = recv_wr;
  return error;
}
