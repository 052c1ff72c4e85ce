// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: one lane (single-producer ring) per engine, one consumer at a time (the
// face's lock). A full lane is an error event and the queue pair's fault, never a silent loss.
#ifndef UROCE_TRANSPORT_COMPLETION_QUEUE_H
#define UROCE_TRANSPORT_COMPLETION_QUEUE_H

#include <array>
#include <atomic>
#include <cstdint>

#include "base/spsc_ring.h"
#include "base/types.h"
#include "transport/event_list.h"

namespace uroce::transport {

// Completion status: the values of ib_wc_status / ibv_wc_status.
enum class WcStatus : uint8_t {
  kSuccess = 0,
  kLocLenErr = 1,
  kLocQpOpErr = 2,
  kLocProtErr = 4,
  kWrFlushErr = 5,
  kMwBindErr = 6,
  kBadRespErr = 7,
  kLocAccessErr = 8,
  kRemInvReqErr = 9,
  kRemAccessErr = 10,
  kRemOpErr = 11,
  kRetryExcErr = 12,
  kRnrRetryExcErr = 13,
  kFatalErr = 19,
};

// Completion opcodes: the values of ib_wc_opcode.
enum class WcOpcode : uint8_t {
  kSend = 0,
  kRdmaWrite = 1,
  kRdmaRead = 2,
  kCompSwap = 3,
  kFetchAdd = 4,
  kBindMw = 5,
  kLocalInv = 6,
  kFlush = 8,
  kAtomicWrite = 9,
  kRegMr = 10,
  kRecv = 128,
  kRecvRdmaWithImm = 129,
};

// wc_flags: the values of ib_wc_flags.
enum WcFlag : uint16_t {
  kWcGrh = 1,
  kWcWithImm = 2,
  kWcWithInvalidate = 4,
  kWcWithSmac = 16,
  kWcWithVlan = 32,
  kWcWithNetworkHdrType = 64,
  kWcRxTimeHardware = 1 << 15,
};

// A completion as the engine writes it; each face turns it into its own form.
struct alignas(64) Cqe {
  uint64_t wr_id;
  void* qp;  // the face's handle (QpContext::user); nullptr: taken back, a poller skips it
  int64_t arrival_ns;  // receive time of the packet that completed it; 0: a send completion
  uint32_t byte_len;
  uint32_t immediate_be;  // or the invalidated R_Key
  uint32_t qpn;
  uint32_t src_qpn;  // UD
  WcStatus status;
  WcOpcode opcode;
  uint16_t wc_flags;
  uint16_t vlan_id;
  uint8_t smac[6];
  uint8_t sl;
  uint8_t network_header;  // rdma_network_type: 2 IPv4, 3 IPv6
  uint8_t solicited;
};
static_assert(sizeof(Cqe) == 64);

struct CompletionQueue;

// Entries of a lane that nobody may see before a grace period is over.
struct CqHold {
  uint64_t ticket = 0;     // of the grace period; 0: none
  uint32_t from = 0;       // the first of them
  bool solicited = false;  // CqLane::solicited of what is before them
};

// One engine's lane. Entry `index` lies at index & mask of the ring; indexes run freely and go on
// when the ring is changed for another one (completion_resize.cc).
struct CqLane {
  Cqe* entries = nullptr;  // engine: the ring that is filled
  uint32_t mask = 0;
  std::atomic<uint32_t> depth{0};  // entries that may wait; a control thread may change it
  EventSource events;              // engine: not fetched yet
  uint32_t noticed = 0;            // engine: entries that have been looked at for notification
  uint32_t held = 0;               // engine: entries for which an event is held back
  Time held_until{};               // engine: when that ends
  bool held_back = false;          // engine: on its list of queues with such an event
  uint32_t moved_from = 0;         // engine: entries before this lie in the ring before
  alignas(kCacheLine) std::atomic<uint32_t> producer{0};
  uint32_t written = 0;          // engine: entries filled, published at the end of the burst
  uint32_t cached_consumer = 0;  // engine's copy
  bool dirty = false;            // engine: on its list of queues to publish
  bool solicited = false;        // engine: an event is due that is solicited, of these entries
  // Engine: the older one first. GraceRounds has two tickets at a time that are not over, the round
  // that runs and the next, so an entry waits for two rounds at most, whatever comes behind it.
  std::array<CqHold, 2> holds;
  CompletionQueue* next_dirty = nullptr;  // engine: its list of queues to publish
  // The engine fills another ring than the consumer reads: the consumer has to follow.
  std::atomic<bool> moved{false};
  alignas(kCacheLine) std::atomic<uint32_t> consumer{0};
  Cqe* read_entries = nullptr;  // consumer: the ring that is read
  uint32_t read_mask = 0;
};

// What ib_req_notify_cq armed. One event per arming.
enum class CqArm : uint32_t { kNone = 0, kSolicited = 1, kNextComp = 2 };

// When an event that was armed is raised: after `count` completions, or `period_us` after the first
// of them, whichever comes first; each lane counts for itself. 0 for the period: at once.
struct CqModeration {
  uint16_t count = 0;  // 0: the period alone
  uint16_t period_us = 0;
};

struct CompletionQueue {
  CqLane* lanes = nullptr;  // one per engine of the device
  uint32_t lane_count = 0;
  void* user = nullptr;  // the device's object, handed back in events
  std::atomic<CqArm> armed{CqArm::kNone};
  std::atomic<bool> overrun{false};
  std::atomic<CqModeration> moderation{CqModeration{}};
  uint32_t next_lane = 0;  // consumer: where the next poll begins, so that no lane starves
};

struct TransportEnv;

// Appends to this engine's lane. False: the lane is full; the CQ is
// marked overrun and an event is raised once; the caller moves its queue pair to ERR.
bool cq_push(TransportEnv& env, CompletionQueue& cq, const Cqe& cqe);

// The slow parts of claiming and committing an entry: transport/completion_entry.h.
bool cq_make_room(TransportEnv& env, CompletionQueue& cq);
void cq_mark_dirty(TransportEnv& env, CompletionQueue& cq);

// Holds back what comes into this engine's lane from now on until the ticket's grace period is
// over: a completion that says that no engine uses some memory any more must not be seen before.
// Nothing waits for it but the queue's consumer.
void cq_hold(TransportEnv& env, CompletionQueue& cq, uint64_t ticket);

// Publishes all lanes that have become dirty, one release store each, and raises an event for
// each armed queue, unless its moderation holds it back. What waits for a grace period stays
// behind, its queues stay on the list, and no others do. Called once at the end of every engine
// input.
void cq_publish_all(TransportEnv& env);

// Raises the events that have been held back long enough; env.held_deadline says when to call.
void cq_raise_held(TransportEnv& env);

// The queue is going: this engine's lists forget it, events that nobody has fetched too.
void cq_forget(TransportEnv& env, CompletionQueue& cq);

// Consumer side: goes over to the ring that the engine fills; entries that wait go along.
void cq_follow(CqLane& lane);

// Consumer side, one thread at a time: calls take(entry) for up to `count` entries, in order of
// each lane, where they lie; entries taken back are skipped. Returns how many were taken.
template <typename Take>
inline uint32_t cq_poll(CompletionQueue& cq, uint32_t count, Take&& take) {
  uint32_t taken = 0;
  uint32_t lane_index = cq.next_lane;
  for (uint32_t visited = 0; visited < cq.lane_count && taken < count; ++visited) {
    CqLane& lane = cq.lanes[lane_index];
    uint32_t at = lane.consumer.load(std::memory_order_relaxed);
    const uint32_t end = lane.producer.load(std::memory_order_acquire);
    if (lane.moved.load(std::memory_order_acquire)) [[unlikely]]
      cq_follow(lane);
    if (at != end) {
      while (at != end && taken < count) {
        const Cqe& entry = lane.read_entries[at++ & lane.read_mask];
        if (entry.qp == nullptr) continue;
        take(entry);
        ++taken;
      }
      lane.consumer.store(at, std::memory_order_release);
    }
    if (++lane_index == cq.lane_count) lane_index = 0;
  }
  cq.next_lane = lane_index;
  return taken;
}

// Consumer side: whether a poll would find something.
bool cq_has_entries(CompletionQueue& cq);

// Consumer side: asks for one event for the next completion (kNextComp) or the next solicited or
// failed one (kSolicited); an arming for more is not narrowed. True: entries wait already, for
// which no event will come; poll again.
bool cq_arm(CompletionQueue& cq, CqArm arm);

// Consumer side: takes back all unpolled entries of one queue pair (its face handle), when that is
// destroyed: a reused QPN must not inherit them.
void cq_take_back(CompletionQueue& cq, const void* qp);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_COMPLETION_QUEUE_H
