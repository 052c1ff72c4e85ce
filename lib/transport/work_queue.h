// SPDX-License-Identifier: BSD-3-Clause
// Send and receive queues: rings of work queue elements between one posting thread (or several
// under the face's lock) and the engine that owns the queue pair.
//
// A slot stays the poster's until `producer` passes it and the engine's until `consumer` does. A
// send WQE is given back when it completes (retransmission reads it again until then), a receive
// WQE when its message is done. The memory belongs to the device (qp_memory.h).
#ifndef UROCE_TRANSPORT_WORK_QUEUE_H
#define UROCE_TRANSPORT_WORK_QUEUE_H

#include <atomic>
#include <cstdint>
#include <span>

#include "base/spsc_ring.h"
#include "base/types.h"
#include "memory/region.h"
#include "transport/address_vector.h"

namespace uroce::transport {

// Work request opcodes: the values of ib_wr_opcode / ibv_wr_opcode.
enum class WrOpcode : uint8_t {
  kRdmaWrite = 0,
  kRdmaWriteWithImm = 1,
  kSend = 2,
  kSendWithImm = 3,
  kRdmaRead = 4,
  kAtomicCmpSwap = 5,
  kAtomicFetchAdd = 6,
  kLocalInvalidate = 7,
  kBindMw = 8,
  kSendWithInvalidate = 9,
  kFlush = 14,
  kAtomicWrite = 15,
  kRegMr = 32,
};

// Whether such a request completes by a response of its own, never by the acknowledgement of a
// later one, and takes one of rd_atomic_max.
constexpr bool completes_by_response(WrOpcode opcode) {
  return opcode == WrOpcode::kRdmaRead || opcode == WrOpcode::kAtomicCmpSwap ||
         opcode == WrOpcode::kAtomicFetchAdd || opcode == WrOpcode::kFlush ||
         opcode == WrOpcode::kAtomicWrite;
}
// Whether it is executed here and takes no PSN.
constexpr bool is_local_operation(WrOpcode opcode) {
  return opcode == WrOpcode::kLocalInvalidate || opcode == WrOpcode::kBindMw ||
         opcode == WrOpcode::kRegMr;
}

// Send flags: the values of ib_send_flags / ibv_send_flags.
enum SendFlag : uint8_t {
  kSendFence = 1,
  kSendSignaled = 2,
  kSendSolicited = 4,
  kSendInline = 8,
};
inline constexpr unsigned kSendFlags = kSendFence | kSendSignaled | kSendSolicited | kSendInline;

// A posted send work request. In its slot follow: an AddressVector on UD queue pairs, then the
// gather list, or the data itself when kSendInline is set.
struct alignas(64) SendWqe {
  uint64_t wr_id;
  uint64_t remote_address;  // RDMA, atomics, FLUSH
  uint64_t compare_add;     // CMP_SWAP: the value compared with; FETCH_ADD: what is added
  uint64_t swap;            // CMP_SWAP: the new value
  uint32_t rkey;            // RDMA, atomics, FLUSH; LOCAL_INV: the key to invalidate
  uint32_t remote_qpn;      // UD; XRC: number of the shared receive queue
  uint32_t remote_qkey;     // UD; FLUSH: placement type and selectivity as in the FETH
  uint32_t immediate_be;    // as the application gave it: network order, never swapped; SEND with
                            // invalidate: the R_Key, host order
  uint32_t length;          // of the whole message, bytes, at most 2^31
  WrOpcode opcode;
  uint8_t flags;  // SendFlag
  uint8_t sge_count;
};
static_assert(sizeof(SendWqe) == 64);

// What follows the WQE of a BIND_MW or REG_MR; its `rkey` names the window or region by any key
// that it had (BIND_MW: by the present one).
struct LocalOperation {
  uint64_t address;  // BIND_MW: first byte; REG_MR: the name that byte 0 gets
  uint64_t length;   // BIND_MW: 0 unbinds
  uint8_t* base;     // REG_MR: byte 0 in this process
  uint32_t new_key;
  uint32_t region;  // BIND_MW: L_Key of the region
  uint32_t access;
};

struct RecvWqe {
  uint64_t wr_id;
  uint32_t length;  // bytes that the scatter list can take, at most 2^31
  uint32_t sge_count;
  // the scatter list follows
  std::span<const memory::Sge> sges() const {
    return {reinterpret_cast<const memory::Sge*>(this + 1), sge_count};
  }
  memory::Sge* sge_array() { return reinterpret_cast<memory::Sge*>(this + 1); }
};
static_assert(sizeof(RecvWqe) == 16);

// Indexes run freely; slot = index & mask. `producer` is the poster's to write, `consumer` the
// engine's.
struct WorkQueue {
  uint8_t* slots = nullptr;
  uint32_t slot_bytes = 0;
  uint32_t mask = 0;   // slots - 1, a power of two less one
  uint32_t depth = 0;  // work requests allowed at once, at most mask + 1
  alignas(kCacheLine) std::atomic<uint32_t> producer{0};
  uint32_t cached_consumer = 0;  // poster's copy
  alignas(kCacheLine) std::atomic<uint32_t> consumer{0};
  uint32_t cached_producer = 0;  // engine's copy

  uint8_t* slot(uint32_t index) const { return slots + size_t{index & mask} * slot_bytes; }

  // Poster: room for one more?
  bool full() {
    const uint32_t tail = producer.load(std::memory_order_relaxed);
    if (tail - cached_consumer < depth) return false;
    cached_consumer = consumer.load(std::memory_order_acquire);
    return tail - cached_consumer >= depth;
  }
  // Engine: is WQE `index` posted? Reads the shared index only when its copy says no.
  bool posted(uint32_t index) {
    if (static_cast<int32_t>(cached_producer - index) > 0) return true;
    cached_producer = producer.load(std::memory_order_acquire);
    return static_cast<int32_t>(cached_producer - index) > 0;
  }
};

struct SendQueue : WorkQueue {
  bool has_address_vectors = false;  // UD and GSI
  SendWqe& wqe(uint32_t index) const { return *reinterpret_cast<SendWqe*>(slot(index)); }
  // What follows a WQE in its slot: the address vector where there are any, and behind it the
  // gather list or the inline data.
  static AddressVector& address_vector(const SendWqe& wqe) {
    return *reinterpret_cast<AddressVector*>(const_cast<SendWqe*>(&wqe) + 1);
  }
  uint8_t* payload_area(const SendWqe& wqe) const {
    auto* behind = reinterpret_cast<uint8_t*>(const_cast<SendWqe*>(&wqe) + 1);
    return behind + (has_address_vectors ? sizeof(AddressVector) : 0);
  }
  std::span<const memory::Sge> sges(const SendWqe& wqe) const {
    return {reinterpret_cast<const memory::Sge*>(payload_area(wqe)), wqe.sge_count};
  }
  LocalOperation& local_operation(const SendWqe& wqe) const {
    return *reinterpret_cast<LocalOperation*>(payload_area(wqe));
  }
};

struct ReceiveQueue : WorkQueue {
  RecvWqe& wqe(uint32_t index) const { return *reinterpret_cast<RecvWqe*>(slot(index)); }
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_WORK_QUEUE_H
