// SPDX-License-Identifier: BSD-3-Clause
// Posting, as both faces do it: work requests are checked, turned into WQEs in the ring, and
// announced by one doorbell.
//
// Nothing is visible to the engine before the one release store of the producer index behind the
// whole list, so a request that is refused half-way has left nothing but bytes in a free slot.
//
// A face's work requests are read through a class without objects, `Face`:
//
//   static constexpr uint64_t kOpcodes;                    // bits of the opcodes that it has
//   static uint32_t immediate(const Send&);                // or the R_Key to invalidate
//   static Datagram datagram(const Send&);                 // UD
//   static uint32_t shared_queue(const Send&);             // XRC: number of the queue
//   static RemoteMemory memory(const Send&);               // RDMA, ATOMIC WRITE
//   static AtomicOperands atomic(const Send&);
//   static uint64_t atomic_length(uint64_t);               // of a message, for a list of so much
//   static int write_flush(const Send&, uint64_t& length, SendWqe&);
//   static int write_local(const Send&, SendQueue&, SendWqe&);
//
// where Send has wr_id, next, sg_list, num_sge, opcode and send_flags. Calls return 0 or a negative
// errno. Everything is inline: a post is less than a hundred instructions.
#ifndef UROCE_DEVICE_POST_H
#define UROCE_DEVICE_POST_H

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device/flow_label.h"
#include "device/limits.h"
#include "device/objects.h"
#include "transport/work_queue.h"

namespace uroce::device {

// Where a datagram goes.
struct Datagram {
  const Ah* ah = nullptr;
  uint32_t qpn = 0;
  uint32_t qkey = 0;
};

struct RemoteMemory {
  uint64_t address = 0;
  uint32_t rkey = 0;
};

struct AtomicOperands {
  RemoteMemory word;
  uint64_t compare_add = 0;
  uint64_t swap = 0;
};

constexpr uint64_t bit(transport::WrOpcode opcode) {
  return uint64_t{1} << static_cast<unsigned>(opcode);
}
inline constexpr uint64_t kSends =
    bit(transport::WrOpcode::kSend) | bit(transport::WrOpcode::kSendWithImm);
inline constexpr uint64_t kSendsOfConnections =
    kSends | bit(transport::WrOpcode::kSendWithInvalidate);
inline constexpr uint64_t kWrites =
    bit(transport::WrOpcode::kRdmaWrite) | bit(transport::WrOpcode::kRdmaWriteWithImm);
inline constexpr uint64_t kRdma = kWrites | bit(transport::WrOpcode::kRdmaRead);
inline constexpr uint64_t kFetches =
    bit(transport::WrOpcode::kAtomicCmpSwap) | bit(transport::WrOpcode::kAtomicFetchAdd);
inline constexpr uint64_t kLocal = bit(transport::WrOpcode::kLocalInvalidate) |
                                   bit(transport::WrOpcode::kRegMr) |
                                   bit(transport::WrOpcode::kBindMw);
// Those that can carry inline data (IBA 11.4.1.1).
inline constexpr uint64_t kInlineOpcodes =
    kSendsOfConnections | kWrites | bit(transport::WrOpcode::kAtomicWrite);

// Which opcodes a type of queue pair has (IBA 11.4.1.1).
constexpr uint64_t opcodes_of(transport::QpType type) {
  switch (type) {
    case transport::QpType::kRc:
    case transport::QpType::kXrcIni:
      return kSendsOfConnections | kRdma | kFetches | kLocal |
             bit(transport::WrOpcode::kAtomicWrite) | bit(transport::WrOpcode::kFlush);
    case transport::QpType::kUc:
      return kSends | kWrites | bit(transport::WrOpcode::kBindMw);
    case transport::QpType::kXrcTgt:
      return 0;  // it only answers
    default:
      return kSends;
  }
}

inline transport::QpState state_of(const QpHandle& handle) {
  return handle.queues->state_word.load(std::memory_order_acquire);
}

// Whether there is room for a WQE at index `tail`.
inline bool has_room(transport::WorkQueue& queue, uint32_t tail) {
  if (tail - queue.cached_consumer < queue.depth) return true;
  queue.cached_consumer = queue.consumer.load(std::memory_order_acquire);
  return tail - queue.cached_consumer < queue.depth;
}

// Makes the WQEs from `first` up to `tail` the engine's.
inline void announce_sends(QpHandle& handle, uint32_t first, uint32_t tail) {
  if (tail == first) return;
  handle.queues->send.producer.store(tail, std::memory_order_release);
  handle.doorbells->ring(handle.slot);
}

// In 64 bits: 32 lengths of 32 bits cannot overflow it.
template <typename Sge>
uint64_t total_length(const Sge* list, size_t count) {
  if (count == 1) return list[0].length;  // nearly always
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) total += list[i].length;
  return total;
}

// A list of one, which nearly all are, goes by itself: a call would cost more than the copy.
template <typename Sge>
void copy_list(void* to, const Sge* from, size_t count) {
  static_assert(sizeof(Sge) == sizeof(memory::Sge) &&
                offsetof(Sge, lkey) == offsetof(memory::Sge, lkey));
  if (count == 1) {
    std::memcpy(to, from, sizeof(Sge));
  } else {
    std::memcpy(to, from, count * sizeof(Sge));
  }
}

// Whether the request is one that this queue pair can take.
inline int check_send(const QpHandle& handle, uint64_t opcodes, unsigned opcode, unsigned flags,
                      uint64_t length) {
  if (opcode > 63 || ((opcodes_of(handle.type) & opcodes) >> opcode & 1) == 0) return -EINVAL;
  if (length > kMessageBytesMax) return -EINVAL;
  if ((flags & transport::kSendInline) != 0) {
    if ((kInlineOpcodes >> opcode & 1) == 0) return -EINVAL;
    if (length > handle.capabilities.inline_bytes_max) return -EINVAL;
  }
  return 0;
}

// The UD part of a WQE: the address by value, so that the handle may go at once.
inline int write_datagram(const QpHandle& handle, const Datagram& to, transport::SendWqe& wqe) {
  if (to.ah == nullptr || to.ah->pd != handle.pd) return -EINVAL;
  transport::AddressVector& vector = transport::SendQueue::address_vector(wqe);
  if (handle.exclusive) {
    to.ah->vector.load_exclusive(vector);
  } else {
    to.ah->vector.load(vector);
  }
  wqe.remote_qpn = vector.multicast ? kMulticastQpn.value() : to.qpn & Qpn::kMask;
  wqe.remote_qkey = to.qkey;
  set_source_port(vector, handle.qpn.value(), wqe.remote_qpn);
  return 0;
}

inline bool fits_port(const QpHandle& handle, uint64_t length) {
  return length <= handle.port_mtu_bytes->load(std::memory_order_relaxed);
}

inline void write_memory(const RemoteMemory& remote, transport::SendWqe& wqe) {
  wqe.remote_address = remote.address;
  wqe.rkey = remote.rkey;
}

// Atomics and ATOMIC WRITE are of one aligned word.
inline bool is_word(uint64_t address, uint64_t length) {
  constexpr uint64_t kWordBytes = 8;
  return length == kWordBytes && address % kWordBytes == 0;
}

// The operands of a request that is none of SEND, RDMA and local operations. `length` (bytes): on
// entry that of the gather list or inline data, afterwards that of the message.
template <typename Face, typename Send>
int write_operands(const Send& wr, uint64_t& length, transport::SendWqe& wqe) {
  const auto opcode = static_cast<transport::WrOpcode>(wr.opcode);
  if (opcode == transport::WrOpcode::kFlush) return Face::write_flush(wr, length, wqe);
  if (opcode == transport::WrOpcode::kAtomicWrite) {
    write_memory(Face::memory(wr), wqe);
  } else {
    const AtomicOperands operands = Face::atomic(wr);
    write_memory(operands.word, wqe);
    wqe.compare_add = operands.compare_add;
    wqe.swap = operands.swap;
    length = Face::atomic_length(length);
  }
  return is_word(wqe.remote_address, length) ? 0 : -EINVAL;
}

// What a BIND_MW says beside its window, whose present or a former key is `window`. Rights and
// bounds are the engine's to judge; the structures are gone by then. An unbinding names no memory.
template <typename BindInfo>
int write_bind(const BindInfo& info, uint32_t window, uint32_t new_key, transport::SendQueue& queue,
               transport::SendWqe& wqe) {
  if (info.mr == nullptr && info.length != 0) return -EINVAL;
  wqe.rkey = window;
  queue.local_operation(wqe) = {
      .address = info.addr,
      .length = info.length,
      .base = nullptr,
      .new_key = new_key,
      .region = info.mr != nullptr ? info.mr->lkey : 0,
      // Programs give the right to write here, too: it means nothing.
      .access = static_cast<uint32_t>(info.mw_access_flags) & ~uint32_t{memory::kLocalWrite}};
  return 0;
}

template <typename Sge>
void write_payload(const Sge* list, size_t count, unsigned flags, uint8_t* area) {
  if ((flags & transport::kSendInline) == 0) return copy_list(area, list, count);
  for (size_t i = 0; i < count; ++i) {
    const Sge& sge = list[i];
    if (sge.length == 0) continue;
    std::memcpy(area, reinterpret_cast<const void*>(sge.addr), sge.length);
    area += sge.length;
  }
}

// What an application gives need not be a value of its type.
template <typename Send>
uint32_t opcode_number(const Send& wr) {
  static_assert(sizeof wr.opcode == sizeof(uint32_t));
  uint32_t number;
  std::memcpy(&number, &wr.opcode, sizeof number);
  return number;
}

template <typename Face, typename Send>
int write_send(QpHandle& handle, const Send& wr, uint32_t index) {
  transport::SendQueue& queue = handle.queues->send;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > handle.capabilities.send_sge_max) {
    return -EINVAL;
  }
  const auto sge_count = static_cast<size_t>(wr.num_sge);
  uint64_t length = total_length(wr.sg_list, sge_count);
  const auto flags = static_cast<unsigned>(wr.send_flags);
  const uint32_t number = opcode_number(wr);
  const int refused = check_send(handle, Face::kOpcodes, number, flags, length);
  if (refused != 0) return refused;
  if (!has_room(queue, index)) return -ENOMEM;

  transport::SendWqe& wqe = queue.wqe(index);
  const auto opcode = static_cast<transport::WrOpcode>(number);
  if (queue.has_address_vectors) {
    if (!fits_port(handle, length)) return -EINVAL;
    if (const int error = write_datagram(handle, Face::datagram(wr), wqe); error != 0) return error;
  } else if ((bit(opcode) & kRdma) != 0) {
    write_memory(Face::memory(wr), wqe);
  } else if ((bit(opcode) & kLocal) != 0) {
    if (sge_count != 0) return -EINVAL;
    if (const int error = Face::write_local(wr, queue, wqe); error != 0) return error;
  } else if ((bit(opcode) & kSendsOfConnections) == 0) {
    if (const int error = write_operands<Face>(wr, length, wqe); error != 0) return error;
  }
  if (handle.type == transport::QpType::kXrcIni && !is_local_operation(opcode)) {
    wqe.remote_qpn = Face::shared_queue(wr) & Qpn::kMask;
  }
  wqe.wr_id = wr.wr_id;
  wqe.immediate_be = Face::immediate(wr);
  wqe.length = static_cast<uint32_t>(length);
  wqe.opcode = opcode;
  wqe.flags = static_cast<uint8_t>(flags & transport::kSendFlags);
  wqe.sge_count = static_cast<uint8_t>(sge_count);
  if (sge_count > 0) write_payload(wr.sg_list, sge_count, flags, queue.payload_area(wqe));
  return 0;
}

// `full`: asked when everything else is in order.
template <typename Recv, typename Full>
int write_recv(transport::ReceiveQueue& queue, uint32_t sge_max, const Recv& wr, uint32_t index,
               Full&& full) {
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > sge_max) return -EINVAL;
  const auto sge_count = static_cast<size_t>(wr.num_sge);
  const uint64_t length = total_length(wr.sg_list, sge_count);
  if (length > kMessageBytesMax) return -EINVAL;
  if (full(index)) return -ENOMEM;
  transport::RecvWqe& wqe = queue.wqe(index);
  wqe.wr_id = wr.wr_id;
  wqe.length = static_cast<uint32_t>(length);
  wqe.sge_count = static_cast<uint32_t>(sge_count);
  if (sge_count > 0) copy_list(wqe.sge_array(), wr.sg_list, sge_count);
  return 0;
}

// The calls, with lists in the faces' form (Send: const or not, as the face has it). The first
// request that is refused is in *bad, which may be nullptr; those before it are posted.
template <typename Face, typename Send>
int post_send(QpHandle& handle, Send* wr, Send** bad) {
  const SpinGuard guard(handle.send_lock, handle.exclusive);
  const uint32_t first = handle.queues->send.producer.load(std::memory_order_relaxed);
  uint32_t tail = first;
  int error = 0;
  if (wr != nullptr && state_of(handle) < transport::QpState::kRts) error = -EINVAL;
  while (error == 0 && wr != nullptr) {
    error = write_send<Face>(handle, *wr, tail);
    if (error != 0) break;
    ++tail;
    wr = wr->next;
  }
  announce_sends(handle, first, tail);
  if (error != 0 && bad != nullptr) *bad = wr;
  return error;
}

// Writes the list behind `tail`, which moves on. `wr` ends at the one that is refused.
template <typename Recv, typename Full>
int write_recvs(transport::ReceiveQueue& queue, uint32_t sge_max, Recv*& wr, uint32_t& tail,
                Full&& full) {
  for (; wr != nullptr; wr = wr->next) {
    if (const int error = write_recv(queue, sge_max, *wr, tail, full); error != 0) return error;
    ++tail;
  }
  return 0;
}

template <typename Recv>
int post_recv(QpHandle& handle, Recv* wr, Recv** bad) {
  const SpinGuard guard(handle.recv_lock, handle.exclusive);
  transport::ReceiveQueue& queue = handle.queues->recv;
  const uint32_t first = queue.producer.load(std::memory_order_relaxed);
  uint32_t tail = first;
  int error = 0;
  if (wr != nullptr && (state_of(handle) == transport::QpState::kReset || handle.shares_receives)) {
    error = -EINVAL;
  } else {
    error = write_recvs(queue, handle.capabilities.recv_sge_max, wr, tail,
                        [&queue](uint32_t index) { return !has_room(queue, index); });
  }
  if (tail != first) {
    queue.producer.store(tail, std::memory_order_release);
    // A receive is looked for when a packet needs it; only a queue pair in ERR, which has to flush
    // it, must be told. The fence: either we see ERR here, or the engine saw the request there.
    if (!handle.exclusive) std::atomic_thread_fence(std::memory_order_seq_cst);
    if (state_of(handle) == transport::QpState::kErr) handle.doorbells->ring(handle.slot);
  }
  if (error != 0 && bad != nullptr) *bad = wr;
  return error;
}

// The engine looks for a request when a packet needs one: nothing to ring.
template <typename Recv>
int post_srq_recv(SrqHandle& handle, Recv* wr, Recv** bad) {
  const SpinGuard guard(handle.post_lock, handle.exclusive);
  transport::SrqPoster& poster = handle.poster;
  transport::ReceiveQueue& queue = poster.posting->queue;
  const uint32_t first = queue.producer.load(std::memory_order_relaxed);
  uint32_t tail = first;
  const int error = write_recvs(queue, handle.sge_max, wr, tail,
                                [&poster](uint32_t index) { return poster.full_at(index); });
  if (tail != first) queue.producer.store(tail, std::memory_order_release);
  if (error != 0 && bad != nullptr) *bad = wr;
  return error;
}

}  // namespace uroce::device

#endif  // UROCE_DEVICE_POST_H
